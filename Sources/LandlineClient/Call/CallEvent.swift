public import AppProtocol
public import CallModel

/// Something that happened to a call, and when.
public struct CallEvent: Sendable, Hashable {
  /// What happened, with its values.
  public enum Kind: Sendable, Hashable {
    /// The other side is being reached.
    case progressing
    /// The other side rings: time for a ring-back tone, unless ``earlyMedia`` comes.
    case ringing
    /// Sound of the network comes before the answer.
    case earlyMedia
    /// The other side answered, or the gateway gave an incoming call to this device.
    case answered
    /// Sound flows.
    case established
    /// The sound's way is open and encrypted with this suite.
    case mediaSecured(String)
    /// Sound has had no way to the gateway for ``Call/mediaPathMilliseconds``, and where the gateway has relays for
    /// ``Call/relayMilliseconds`` more: why, as far as the device sees, and with what to do. The call goes on, and ``mediaSecured(_:)`` may follow.
    case mediaBlocked(CallFailure)
    case price(CallPrice)
    /// The credit ends after so many seconds; `nil` when it no longer does.
    case creditEnds(inSeconds: Int?)
    /// The other side pressed a key.
    case digit(Character, milliseconds: Int)
    /// The other side put the call on hold, or took it back.
    case held(Bool)
    /// How a transfer goes that this side asked for; or that the other side put it through to somebody else.
    case transfer(TransferProgress)
    /// This side's hold, or its end, is in effect.
    case onHold(Bool)
    /// Once a second.
    case quality(CallQuality)
    case warning(QualityWarning, isRaised: Bool)
    /// Who is in the conference, or what has changed: ``Call/members`` are all of them.
    case members(RoomMembers)
    /// Who speaks in the conference.
    case speakers(RoomSpeakers)
    /// Whether what is said in the call, or in its conference, is recorded from now on.
    case recording(RecordingState)
    /// The connection to the gateway is lost (`false`) or stands again; the call goes on.
    case connection(isUp: Bool)
    /// A request inside the call was refused; the call goes on as before.
    case refused(CallFailure)
    /// The last event.
    case ended(CallDetails)
  }

  public let kind: Kind
  /// By this device's clock, which may be set back; ``milliseconds`` never is.
  public let at: Instant
  /// Since the call was asked for, on a clock that never steps.
  public let milliseconds: Int64

  public init(_ kind: Kind, at: Instant, milliseconds: Int64) {
    self.kind = kind
    self.at = at
    self.milliseconds = milliseconds
  }
}
