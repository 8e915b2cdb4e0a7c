package import AppProtocol
package import CallEngine
package import CallModel
package import LedgerCore
package import SDPCore
package import SIPCore

/// What a node wants done, in order. Each is performed once; those that name an answer are answered once.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
package enum NodeEffect: Sendable {
  /// Every environment has a life at its ledger: apps may be let in.
  case started
  /// A ledger took no new life: nothing can be billed, so nothing is served.
  case startFailed(environment: String, LedgerUnavailable)

  // MARK: Apps

  case sendText(AppProtocol.ConnectionID, [UInt8])
  case ping(AppProtocol.ConnectionID)
  /// A close frame with this code (RFC 6455 section 7.4), after all that was sent.
  case close(AppProtocol.ConnectionID, code: UInt16, reason: String)
  /// Judge a proof; answered with ``AppDoorInput/verified(_:_:)``.
  indirect case verify(VerificationID, Registration, host: SIPHost)

  /// Has a device of this user, which has no session now, ever registered? Answered with
  /// ``NodeInput/userLookedUp(_:isKnown:)``.
  case lookUpUser(DeviceDirectory.Person)

  // MARK: SIP

  /// What cannot be sent is told with ``NodeInput/unsent(_:)``, where there is a transaction.
  case send([UInt8], SIPPath, TransactionID?)
  /// Where a URI lives (RFC 3263).
  case locate(LocationID, SIPURI)
  /// Fetch a certificate of a signed caller; answered with ``NodeInput/fetched(_:_:)``.
  indirect case fetch(CertificateFetchID, WebAddress, WebFetchPolicy)
  /// A request of a host that is no trunk's gets no answer: end its stream.
  case ignoreStranger(SIPPath)

  // MARK: Media

  /// Reserve ports and open a bridge. Undone by ``MediaOrder/close``.
  case prepare(CallID, MediaNeeds)
  case media(CallID, MediaOrder)
  indirect case recordRoom(RoomKey, RoomRecordingOrder)

  // MARK: Ledger

  case bill(environment: String, BillingErrand)
  case keep(environment: String, KeepingErrand)
  /// Whose credit a call would use and at which prices.
  case readPayer(environment: String, AccountName)

  // MARK: What others are told

  indirect case originated(OriginationID, Result<CallID, CallFailure>)
  /// An order was carried out; or why it was not.
  indirect case ordered(CallOrderID, CallFailure?)
  /// A call as it stands now. The last one has the state `ended`.
  indirect case changed(CallSnapshot)
  /// The call is over: keep its record.
  indirect case record(CallRecord)
  /// What an app measured of a call whose record is kept already.
  case statistics(CallID, environment: String, [String: Double])
  /// Keep the trace of a call that is over; after the last time nothing more is noted of it.
  case keepTrace(CallID, isLast: Bool)
  indirect case trace(TraceEntry)
  /// Written before anything that follows is done.
  case journal(JournalEntry)
  /// A rule of what may be done within an hour was reached for the first time within its hour.
  case velocity(VelocityRule, environment: String)
  /// A step of a call at the ledger is over, so many microseconds after it was asked for.
  indirect case billed(CallID, LedgerStep, Result<LedgerReceipt, LedgerUnavailable>, microseconds: Int64)
  case log(NodeLogEntry)
}

/// A line of the story of a call, as it happens.
package enum TraceEntry: Sendable {
  case began(CallSnapshot)
  /// An app asked; a call that comes of it is told of by the reply.
  case request(SessionID, RequestNumber, AppRequest)
  /// An app was told.
  case told(SessionID, AppEvent)
  /// The session's device rings for a call.
  case invited(SessionID, CallID, device: String)
  case sessionEnded(SessionID)
  /// An attempt of a leg at a trunk, by the Call-ID of its INVITE.
  case dialog(sipCallID: String, call: CallID, leg: LegID, trunk: CallTrunk?, name: String)
  case message([UInt8], sipCallID: String, isSent: Bool, SIPPath)
  case plan(CallID, LegID, MediaPlan)
  /// The device whose media are called so has answered: it is the called side.
  case joined(CallID, LegID, side: LegID)
}

/// A line for the log.
package struct NodeLogEntry: Hashable, Sendable {
  package enum Level: Hashable, Sendable { case debug, info, notice, warning, error, critical }
  package var level: Level
  package var message: String
  /// Names and values, in order.
  package var facts: [Fact]

  package struct Fact: Hashable, Sendable {
    package var name: String
    package var value: String
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package init(_ level: Level, _ message: String, _ facts: [Fact] = []) {
    self.level = level
    self.message = message
    self.facts = facts
  }
}
