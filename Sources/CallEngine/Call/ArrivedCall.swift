import AppProtocol
import CallModel
import RoutingCore
import SIPCore

/// What a call that a trunk sent us, or a telephone of a user, goes by: the number's row as it was when the INVITE came, and how far down its targets
/// the call is. A change of the row is for the calls after it.
struct ArrivedCall {
  /// One target with what it takes to reach it.
  struct Target {
    enum Way {
      case user(UserID)
      /// A leg over a trunk, or the gateway's own voice.
      case leg(CallTerms)
      /// It can never be reached, as a number without a price.
      case refused(CallFailure)
    }

    let way: Way
    let ringMilliseconds: Int64
    let leadsOn: Set<InboundNumber.Outcome>

    /// Set for a conference.
    var room: RoomKey? {
      if case .leg(let terms) = way { return terms.room }
      return nil
    }
  }

  let handle: CallHandle
  let invite: IncomingCall
  /// `nil` where a telephone of a user calls.
  let number: InboundNumber?
  /// The telephone that calls.
  let phone: PhoneCaller?
  /// Whose INVITE it is: a trunk's, or a telephone's.
  let trunk: CallTrunk
  /// Its place under the trunk's caps; `nil` for a call that is refused.
  let ticket: TrunkState.Ticket?
  let from: CallerIdentity
  let targets: [Target]
  /// The one whose turn it is.
  var turn = 0
  /// The leg to a trunk that is being made ready.
  var connecting: Connecting?
  /// The place in the mixer, or why there is none, where a conference is among the targets.
  var room: Result<UInt64, CallFailure>?

  /// A leg to a trunk waits for ports and for its hold.
  struct Connecting {
    var isPrepared = false
    let until: MonotonicInstant
  }

  init(
    handle: CallHandle, invite: IncomingCall, number: InboundNumber?, phone: PhoneCaller? = nil, trunk: CallTrunk,
    ticket: TrunkState.Ticket? = nil,
    from: CallerIdentity, targets: [Target] = []
  ) {
    self.handle = handle
    self.invite = invite
    self.number = number
    self.phone = phone
    self.trunk = trunk
    self.ticket = ticket
    self.from = from
    self.targets = targets
  }

  /// Whose users it may be for.
  var application: String? { number?.application ?? phone?.identity.application }

  var target: Target? { targets.indices.contains(turn) ? targets[turn] : nil }

  /// Whether another target is to be tried after this end of the present one.
  func leadsOn(after failure: CallFailure?) -> Bool {
    guard let target, turn + 1 < targets.count else { return false }
    return target.leadsOn.contains(ArrivedCall.outcome(of: failure))
  }

  /// How a target ended that did not answer.
  static func outcome(of failure: CallFailure?) -> InboundNumber.Outcome {
    switch failure?.code {
    case .busy, .userBusy, .roomFull: .busy
    case .noAnswer, .userNoAnswer: .noAnswer
    case .declined, .blocked, .userDeclined, .global, .roomLocked: .declined
    default: .unreachable
    }
  }

  // MARK: What the caller hears

  /// The response to an INVITE whose call comes to nothing (status and cause of Q.850).
  static func rejection(_ failure: CallFailure?, _ number: InboundNumber?) -> Rejection {
    let (status, cause): (Int, Int)
    switch failure?.code {
    case .numberUnknown: (status, cause) = (404, 1)
    case .callerRefused: (status, cause) = (failure?.sipStatus ?? 603, 21)
    case .forwardLoop: (status, cause) = (failure?.sipStatus ?? 482, 25)
    case .busy, .userBusy, .roomFull: (status, cause) = (486, 17)
    case .roomLocked: (status, cause) = (403, 21)
    case .declined, .userDeclined, .global: (status, cause) = (603, 21)
    case .noAnswer, .userNoAnswer: (status, cause) = (number?.noAnswerStatus ?? 480, 19)
    case .limit where failure?.sipStatus == 486: (status, cause) = (486, 17)
    case .limit where failure?.sipStatus == 503: (status, cause) = (503, 34)
    case .funds, .rate, .policy, .billing, .currency, .account, .limit, .noRoute: (status, cause) = (480, 31)
    case .media where failure?.leg == .trunk: (status, cause) = (failure?.sipStatus ?? 488, 88)
    case .congestion where failure?.leg == .app: (status, cause) = (503, 42)
    case .internal: (status, cause) = (500, 41)
    default: (status, cause) = (480, 20)
    }
    var rejection = Rejection(
      status, reasons: [CallFailure.Reason(protocolName: "Q.850", cause: cause, text: nil)],
      retryAfterSeconds: status == 503 ? failure?.retryAfterSeconds ?? 1 : nil)
    // RFC 8224 section 6.2.2: another 403 than "Forbidden".
    if status == 403, failure?.code == .callerRefused { rejection.phrase = "Stale Date" }
    if status == 488 {
      rejection.warning = failure?.warning ?? "no common codec"
      rejection.warningCode = 305
    }
    return rejection
  }
}
