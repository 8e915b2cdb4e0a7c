extension CauseCatalogue {
  /// Every cause of ITU-T Q.850 in ascending order, with two national ones that carriers send (52, 54).
  public static let causes: [Cause] = [
    Cause(
      1, "Unallocated (unassigned) number", "The number has a valid form but belongs to nobody.",
      likely: ["a mistyped number", "the number was given up"]),
    Cause(
      2, "No route to specified transit network",
      "An exchange does not know, or does not serve, the transit network that was asked for.",
      likely: ["a carrier selection code that the trunk does not take"]),
    Cause(
      3, "No route to destination", "The network that serves the called party cannot be reached from here.",
      likely: ["no route in the carrier's tables", "a number range that is not opened"]),
    Cause(
      4, "Send special information tone",
      "The called party cannot be reached for reasons that will last; an announcement should say so.",
      likely: ["a line taken out of service", "a changed numbering"]),
    Cause(
      5, "Misdialled trunk prefix", "A trunk prefix in front of the number is not one.",
      likely: ["a national prefix such as 0 left in an international number"]),
    Cause(
      6, "Channel unacceptable", "The entity that sent the cause cannot use the channel chosen for the call.",
      likely: ["two ends chose the same channel", "a channel out of service"]),
    Cause(
      7, "Call awarded and being delivered in an established channel",
      "The call goes to the user over a channel that was open already.", likely: ["an additional call on the same line"]
    ),
    Cause(8, "Preemption", "The call is cut to make room for another.", likely: ["a call of higher precedence"]),
    Cause(
      9, "Preemption - circuit reserved for reuse",
      "The call is cut and its circuit is kept for the call that took its place.",
      likely: ["a call of higher precedence"]),
    Cause(
      14, "QoR: ported number", "The number has moved to another network; the query on release found that out.",
      likely: ["number portability", "a stale routing database"]),
    Cause(
      16, "Normal call clearing", "One of the people in the call ended it.",
      likely: ["somebody hung up", "the caller gave up"]),
    Cause(
      17, "User busy", "The called party has no room for another call.",
      likely: ["the line is in use", "call waiting is off"]),
    Cause(
      18, "No user responding", "The called party's equipment gave no sign in the time allowed.",
      likely: ["the phone is off", "the last mile is broken"]),
    Cause(
      19, "No answer from user (user alerted)", "The phone rang and nobody answered in time.",
      likely: ["nobody is there", "a short ring time"]),
    Cause(
      20, "Subscriber absent", "The mobile station is not signed on, or cannot be reached by radio.",
      likely: ["the phone is off or out of coverage"]),
    Cause(
      21, "Call rejected", "The called party's equipment could take the call and does not want it.",
      likely: [
        "somebody pressed decline", "a block list", "the trunk refuses the account, the number or the rate of calls",
      ]),
    Cause(
      22, "Number changed", "The called number is no longer in use; the new one may come with the cause.",
      likely: ["the subscriber has moved"]),
    Cause(
      23, "Redirection to new destination", "The call should go to another number, which comes with the cause.",
      likely: ["call forwarding by the network"]),
    Cause(
      24, "Call rejected due to feature at the destination", "A feature of the called line turned the call away.",
      likely: ["anonymous call rejection", "a screening service"]),
    Cause(
      25, "Exchange routing error", "The call ran through more exchanges than it may.",
      likely: ["a loop between two networks", "a routing mistake"]),
    Cause(
      26, "Non-selected user clearing", "Another device took the call that was offered to this one.",
      likely: ["several phones on one line"]),
    Cause(
      27, "Destination out of order",
      "The interface to the called party does not work, so the call cannot be delivered.",
      likely: ["a broken line", "a customer's exchange that is down"]),
    Cause(
      28, "Invalid number format (address incomplete)",
      "The number is incomplete or in a form that the network cannot use.",
      likely: ["a missing digit or country code", "a wrong type of number"]),
    Cause(
      29, "Facility rejected", "The network cannot give a supplementary service that was asked for.",
      likely: ["a feature that the line lacks"]),
    Cause(
      30, "Response to STATUS ENQUIRY", "A message answers a question about the state of the call.",
      likely: ["part of a check between two exchanges"]),
    Cause(
      31, "Normal, unspecified", "Something normal happened that no other cause of its class describes.",
      likely: ["a switch that does not say more"]),
    Cause(
      34, "No circuit/channel available", "No circuit is free for the call.",
      likely: ["all channels of the trunk are busy", "the trunk's channel limit"]),
    Cause(
      38, "Network out of order", "The network does not work and will not for some time.",
      likely: ["a large fault in the carrier's network"]),
    Cause(
      39, "Permanent frame mode connection out of service", "A permanent frame mode connection is down.",
      likely: ["a broken data line"]),
    Cause(
      40, "Permanent frame mode connection operational", "A permanent frame mode connection works.",
      likely: ["a report on a data line"]),
    Cause(
      41, "Temporary failure", "The network does not work for the moment and will soon.",
      likely: ["a short fault", "an overloaded switch"]),
    Cause(
      42, "Switching equipment congestion", "The exchange has too much traffic.",
      likely: ["a peak of calls", "mass calling to one number"]),
    Cause(
      43, "Access information discarded", "The network could not pass on information that came with the call.",
      likely: ["a long sub-address or user information"]),
    Cause(
      44, "Requested circuit/channel not available", "The circuit that was asked for cannot be had.",
      likely: ["two calls took the same circuit"]),
    Cause(
      46, "Precedence call blocked", "No circuit is free that a call of this precedence may take.",
      likely: ["calls of the same or higher precedence fill the trunk"]),
    Cause(
      47, "Resource unavailable, unspecified", "Something is used up that no other cause of its class describes.",
      likely: ["the trunk's limit of calls", "a fault in the carrier's network"]),
    Cause(
      49, "Quality of service not available", "The quality that was asked for cannot be given.",
      likely: ["a throughput or delay that the network lacks"]),
    Cause(
      50, "Requested facility not subscribed", "The line has not subscribed to the service that was asked for.",
      likely: ["a feature that must be ordered"]),
    Cause(
      52, "Outgoing calls barred", "The line may not place such calls. A national use of a spare number.",
      likely: ["international or premium calls are barred"]),
    Cause(
      53, "Outgoing calls barred within CUG", "A closed user group does not let its member call out.",
      likely: ["a rule of the group"]),
    Cause(
      54, "Incoming calls barred", "The line may not receive such calls. A national use of a spare number.",
      likely: ["the subscriber has barred incoming calls", "roaming"]),
    Cause(
      55, "Incoming calls barred within CUG", "A closed user group does not let calls in to its member.",
      likely: ["a rule of the group"]),
    Cause(
      57, "Bearer capability not authorized", "The caller may not use the kind of connection that was asked for.",
      likely: ["the trunk's account is not enabled for the destination or service"]),
    Cause(
      58, "Bearer capability not presently available", "The kind of connection that was asked for is not free now.",
      likely: ["no 64 kbit/s circuits", "a video call to a voice route"]),
    Cause(
      62, "Inconsistency in designated outgoing access information and subscriber class",
      "The access that was asked for does not go with the caller's class.", likely: ["a wrong calling party category"]),
    Cause(
      63, "Service or option not available, unspecified",
      "A service is missing that no other cause of its class describes.",
      likely: ["a feature that the network does not offer on this route"]),
    Cause(
      65, "Bearer capability not implemented", "The equipment does not have the kind of connection that was asked for.",
      likely: ["a codec or a call type that the equipment lacks"]),
    Cause(
      66, "Channel type not implemented", "The equipment does not have the type of channel that was asked for.",
      likely: ["a data call to a voice line"]),
    Cause(
      69, "Requested facility not implemented",
      "The equipment does not have the supplementary service that was asked for.",
      likely: ["an old exchange", "a feature of another vendor"]),
    Cause(
      70, "Only restricted digital information bearer capability is available",
      "Only 56 kbit/s digital connections can be had.", likely: ["an old trunk with restricted digital circuits"]),
    Cause(
      79, "Service or option not implemented, unspecified",
      "A service does not exist here that no other cause of its class describes.",
      likely: ["a codec, a method or a feature that the peer lacks"]),
    Cause(
      81, "Invalid call reference value", "A message names a call that is not in use on this interface.",
      likely: ["two ends out of step after a restart"]),
    Cause(
      82, "Identified channel does not exist", "The channel that was asked for is not active on this interface.",
      likely: ["different channel ranges at the two ends"]),
    Cause(
      83, "A suspended call exists, but this call identity does not",
      "A call should be resumed under an identity that no suspended call has.", likely: ["a wrong call identity"]),
    Cause(
      84, "Call identity in use", "A call should be suspended under an identity that is taken.",
      likely: ["a call identity used twice"]),
    Cause(
      85, "No call suspended", "A call should be resumed and none is suspended.",
      likely: ["the call has ended while it was suspended"]),
    Cause(
      86, "Call having the requested call identity has been cleared", "The suspended call has been cleared since.",
      likely: ["a timer ended it", "the other side hung up"]),
    Cause(
      87, "User not member of CUG", "The called or the calling party is no member of the closed user group.",
      likely: ["a wrong group"]),
    Cause(
      88, "Incompatible destination", "The called equipment cannot take a call of this kind.",
      likely: ["no common codec or media transport", "a voice call to a fax or data line"]),
    Cause(90, "Non-existent CUG", "The closed user group does not exist.", likely: ["a wrong interlock code"]),
    Cause(
      91, "Invalid transit network selection", "The name of the transit network has a wrong form.",
      likely: ["a carrier selection code that is no code"]),
    Cause(
      95, "Invalid message, unspecified", "A message is wrong in a way that no other cause of its class describes.",
      likely: ["a fault of one of the exchanges"]),
    Cause(
      96, "Mandatory information element is missing", "A message lacks something that it must have.",
      likely: ["an exchange with another variant of the protocol"]),
    Cause(
      97, "Message type non-existent or not implemented", "A message is of a type that the receiver does not know.",
      likely: ["an exchange with another variant of the protocol"]),
    Cause(
      98, "Message not compatible with call state or message type non-existent or not implemented",
      "A message does not go with the state of the call, or its type is not known.", likely: ["two ends out of step"]),
    Cause(
      99, "Information element/parameter non-existent or not implemented",
      "A message has a part that the receiver does not know and has left out.",
      likely: ["an exchange with another variant of the protocol"]),
    Cause(
      100, "Invalid information element contents", "A part of a message has contents that the receiver does not take.",
      likely: ["a malformed number", "a wrong type of number"]),
    Cause(
      101, "Message not compatible with call state", "A message came that the state of the call does not allow.",
      likely: ["two ends out of step"]),
    Cause(
      102, "Recovery on timer expiry", "A timer ran out and the exchange cleared the call to recover.",
      likely: ["no answer to a message", "a lost link", "a slow network beyond"]),
    Cause(
      103, "Parameter non-existent or not implemented, passed on",
      "A message has a parameter that the receiver does not know and has passed on.",
      likely: ["an exchange with another variant of the protocol"]),
    Cause(
      110, "Message with unrecognized parameter, discarded",
      "A message was dropped for a parameter that the receiver does not know.",
      likely: ["an exchange with another variant of the protocol"]),
    Cause(
      111, "Protocol error, unspecified",
      "The protocol was broken in a way that no other cause of its class describes.",
      likely: ["a fault of one of the exchanges"]),
    Cause(
      127, "Interworking, unspecified", "A network beyond does not give causes, so what happened is not known.",
      likely: ["a SIP or analogue network behind the carrier"]),
  ]
}
