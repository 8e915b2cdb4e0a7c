package import CallModel
package import SIPCore

/// Something that happened to a leg, for the journal of legs on disk: a process that dies says BYE to nobody, so the next
/// one does.
package enum JournalEntry: Sendable {
  /// An INVITE is about to be sent, for the first time or with credentials.
  case invite(JournaledLeg)
  /// The head of the first 2xx came.
  case answer(sipCallID: String, head: [UInt8])
  /// The peer was told of the end.
  case end(sipCallID: String)
}

/// The legs to trunks that are up or being set up: what of their messages the journal needs.
package struct DialogBook {
  /// Legs that are kept; more are not.
  package static let maximumLegs = 20_000

  private struct Leg {
    let trunk: String
    let startedAt: Instant
    /// The transaction of the last INVITE; `nil` before it was sent, and for a leg of an earlier life.
    var invitation: TransactionID?
    var isInJournal = false
    var isAnswered = false
  }

  private var legs: [String: Leg] = [:]
  private var callIDs: [CallHandle: String] = [:]
  package init() {}

  /// A leg is about to be called.
  /// - Returns: `false` where there is no room for it.
  package mutating func begin(_ handle: CallHandle, sipCallID: String, trunk: String, at clock: Instant) -> Bool {
    guard legs.count < DialogBook.maximumLegs else { return false }
    callIDs[handle] = sipCallID
    legs[sipCallID] = Leg(trunk: trunk, startedAt: clock)
    return true
  }

  /// A leg of an earlier life is about to be ended.
  package mutating func adopt(_ handle: CallHandle, _ leg: JournaledLeg) {
    callIDs[handle] = leg.callID
    var adopted = Leg(trunk: leg.trunk, startedAt: leg.startedAt)
    adopted.isInJournal = true
    adopted.isAnswered = true
    legs[leg.callID] = adopted
  }

  /// An INVITE goes out; one that is sent again changes nothing.
  package mutating func sent(_ bytes: [UInt8], _ message: SentMessage, on path: SIPPath) -> JournalEntry? {
    guard let leg = legs[message.callID], !leg.isAnswered, leg.invitation != message.transaction,
      let head = AbandonedLeg.head(of: bytes)
    else { return nil }
    legs[message.callID]?.invitation = message.transaction
    legs[message.callID]?.isInJournal = true
    return .invite(
      JournaledLeg(
        callID: message.callID, trunk: leg.trunk, startedAt: leg.startedAt, path: path, invite: head))
  }

  /// A message of some dialog came.
  package mutating func received(_ bytes: [UInt8], _ message: ReceivedMessage) -> JournalEntry? {
    guard message.acceptsInvite, let sipCallID = message.callID, let leg = legs[sipCallID], leg.isInJournal,
      !leg.isAnswered,
      let head = AbandonedLeg.head(of: bytes)
    else { return nil }
    legs[sipCallID]?.isAnswered = true
    return .answer(sipCallID: sipCallID, head: head)
  }

  /// The leg has its end: its peer was told.
  package mutating func ended(_ handle: CallHandle) -> JournalEntry? {
    guard let sipCallID = callIDs.removeValue(forKey: handle), let leg = legs.removeValue(forKey: sipCallID),
      leg.isInJournal
    else { return nil }
    return .end(sipCallID: sipCallID)
  }
}
