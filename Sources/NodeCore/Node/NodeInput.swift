package import AppProtocol
package import CallEngine
package import CallModel
import LedgerCore
package import SIPCore

/// What a node is told.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
package enum NodeInput: Sendable {
  /// The first input: lives of this node begin at the ledgers, and what an earlier life left is settled and ended. Answered
  /// with ``NodeEffect/started`` or ``NodeEffect/startFailed(_:_:)``.
  case start
  /// Something is due: see ``NodeCore/nextDeadline``.
  case due
  /// From the connections of apps, and verdicts on their proofs.
  case door(AppDoorInput)
  /// One datagram, or one message of a stream.
  case sip([UInt8], SIPPath)
  /// A request could not be sent, or its stream broke before an answer.
  case unsent(TransactionID)
  /// Answers ``NodeEffect/locate(_:_:)``: empty where there is no way.
  case located(LocationID, [SIPPath])
  /// Answers ``NodeEffect/fetch(_:_:_:)``.
  indirect case fetched(CertificateFetchID, CertificateFetchResult)
  /// Answers ``NodeEffect/prepare(_:_:)``.
  indirect case prepared(CallID, Result<PreparedMedia, MediaShortage>)
  case media(CallID, MediaNotice)
  /// Answers ``NodeEffect/bill(_:_:)``, the one that was asked last in this environment.
  case billed(environment: String, BillingAnswer)
  /// Answers ``NodeEffect/keep(_:_:)``, the one that was asked last in this environment.
  case kept(environment: String, KeepingAnswer)
  /// Answers ``NodeEffect/readPayer(environment:_:)``; `nil` where the ledger has no such account.
  indirect case payer(environment: String, AccountName, Result<Payer?, PayerUnavailable>)
  /// Answers ``NodeEffect/lookUpUser(_:environment:)``: whether a device of the user has ever registered; `nil` where the
  /// store cannot be read.
  case userLookedUp(DeviceDirectory.Person, isKnown: Bool?)
  /// A call between two destinations, asked for over REST; answered with ``NodeEffect/originated(_:_:)``.
  indirect case originate(OriginationID, OriginateOrder)
  /// An operator does something to a conference.
  case room(RoomKey, RoomOrder, by: String)
  /// Answers ``NodeEffect/recordRoom(_:_:)`` when the recording is over.
  indirect case roomRecordingEnded(RoomKey, RecordingID, Recording.State)
  /// An operator ends a call.
  case hangUp(CallID, by: String, cause: Int = HangUpCause.normal)
  /// Something is done to a call that is up; answered with ``NodeEffect/ordered(_:_:)``.
  indirect case order(CallOrderID, CallID, CallOrder, by: String)
  /// What may change while calls are up.
  indirect case configure(NodeSettings)
  /// All numbers of an environment, in place of those before: at the start, and after each change.
  indirect case numbers(environment: String, [InboundNumber])
  /// All telephones of an environment, in place of those before: at the start, and after each change.
  indirect case deskPhones(environment: String, [DeskPhone])
  /// No new sessions and calls from now on; apps are told.
  case drain
  /// Every session ends.
  case endSessions
  /// How long something that came in waited: what calls are refused by when there is too much to do.
  case waited(AdmissionGate.Observation)
}

/// Why the prices of an account cannot be read, for the log.
package struct PayerUnavailable: Error, Hashable, Sendable {
  package var problem: String
  package init(_ problem: String) { self.problem = problem }
}
