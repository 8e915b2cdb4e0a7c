package import CallModel

/// The called side of reliable provisional responses to one INVITE (RFC 3262 section 3): one at a time on the wire,
/// repeated until its PRACK comes; the others wait in order.
///
///     idle ──send──▶ waiting ──PRACK──▶ idle, or waiting for the next in the queue
///                       │ 64 × T1
///                       └──▶ failed: the INVITE gets a 5xx
package struct ReliableProvisionalSender: Hashable, Sendable {
  package enum SendVerdict: Hashable, Sendable {
    /// Send this now: RSeq and Require are in it.
    case send(OutgoingResponse)
    /// Goes out after the PRACK of the one before.
    case queued
    /// The queue is full, or a final response went out: nothing was kept.
    case refused
  }

  package enum Acknowledgement: Hashable, Sendable {
    /// 200 to the PRACK, then send the next one where there is one.
    case accepted(next: OutgoingResponse?)
    /// 481 to the PRACK.
    case unknown
  }

  package enum Action: Hashable, Sendable {
    case sendAgain(OutgoingResponse)
    /// No PRACK in 64 × T1: reject the INVITE with a 5xx.
    case fail
  }

  private struct Outstanding: Hashable, Sendable {
    let sequence: UInt32
    let response: OutgoingResponse
    /// `nil` after a final response: still acknowledged, no longer repeated.
    var schedule: RetransmissionSchedule?
  }

  private let invite: UInt32
  private let limit: Int
  private var nextSequence: UInt32
  private var outstanding: Outstanding?
  private var queue: [OutgoingResponse] = []
  private var isFinal = false

  /// - Parameters:
  ///   - invite: The CSeq number of the INVITE.
  ///   - limit: Unacknowledged responses at most, see ``UserAgentLimits/reliableProvisionals``.
  package init(invite: UInt32, limit: Int, identifiers: IdentifierSource) {
    self.invite = invite
    self.limit = limit
    // 1 to 2³¹ − 1.
    nextSequence = UInt32(identifiers.number() % 0x7FFF_FFFF) + 1
  }

  package var nextDeadline: MonotonicInstant? { outstanding?.schedule?.deadline }

  /// Whether a 2xx has to wait: a session description in a provisional response must be acknowledged before it
  /// (section 3).
  package var holdsSuccess: Bool {
    !isFinal && (outstanding?.response.body != nil || queue.contains { $0.body != nil })
  }

  /// A provisional response of 101 to 199 that is to be reliable.
  package mutating func send(_ response: OutgoingResponse, at now: MonotonicInstant) -> SendVerdict {
    let count = queue.count + (outstanding == nil ? 0 : 1)
    guard !isFinal, count < limit else { return .refused }
    guard outstanding == nil else {
      queue.append(response)
      return .queued
    }
    return start(response, at: now).map(SendVerdict.send) ?? .refused
  }

  /// A PRACK with this RAck.
  package mutating func acknowledge(_ acknowledged: RAck, at now: MonotonicInstant) -> Acknowledgement {
    guard let current = outstanding, acknowledged == RAck(response: current.sequence, cseq: CSeq(invite, .invite))
    else {
      return .unknown
    }
    outstanding = nil
    guard !isFinal, !queue.isEmpty else { return .accepted(next: nil) }
    return .accepted(next: start(queue.removeFirst(), at: now))
  }

  /// A final response goes out: nothing is repeated or sent from the queue any more.
  package mutating func finish() {
    isFinal = true
    queue = []
    outstanding?.schedule = nil
  }

  package mutating func advance(to now: MonotonicInstant) -> Action? {
    guard let current = outstanding else { return nil }
    switch outstanding?.schedule?.advance(to: now) {
    case nil: return nil
    case .repeatNow: return .sendAgain(current.response)
    case .expire:
      finish()
      return .fail
    }
  }

  private mutating func start(_ response: OutgoingResponse, at now: MonotonicInstant) -> OutgoingResponse? {
    guard let require = try? OutgoingField("Require", "100rel"),
      let number = try? OutgoingField("RSeq", "\(nextSequence)")
    else { return nil }
    var response = response
    response.fields += [require, number]
    outstanding = Outstanding(
      sequence: nextSequence, response: response, schedule: RetransmissionSchedule(from: now, cap: nil))
    nextSequence &+= 1
    return response
  }
}
