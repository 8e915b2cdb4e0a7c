import CallModel
import SIPCore

/// One dialog of a call: what went to one trunk and what came back.
struct EvidenceAttempt: Sendable {
  /// `nil` for a SIP address that was called directly.
  let trunk: String?
  let side: LegID
  let sipCallID: String
  let facts: CallStorySources.TrunkFacts?
  /// In order of time.
  let messages: [EvidenceMessage]

  /// INVITEs of ours that begin the call, repetitions left out: more than one after a challenge.
  let invites: [EvidenceMessage]
  let repeatedInvites: Int
  /// Responses to them, repetitions left out.
  let responses: [EvidenceMessage]
  let offer: EvidenceDescription?
  /// Of the first 2xx with a description, else of a provisional response.
  let answer: EvidenceDescription?

  init(
    _ dialog: CallTrace.Dialog, _ messages: [EvidenceMessage], facts: CallStorySources.TrunkFacts?
  ) {
    trunk = dialog.trunk
    side = dialog.side
    sipCallID = dialog.sipCallID
    self.facts = facts
    self.messages = messages
    let hasTag = { (message: EvidenceMessage) in message.value("to")?.lowercased().contains(";tag=") ?? false }
    let first = messages.filter { $0.isSent && $0.method == "INVITE" && !hasTag($0) }
    // A repetition is one by its number too: it may have been told as new.
    var numbers: Set<Int> = []
    invites = first.filter { !$0.isRepeated && ($0.sequence.map { numbers.insert($0).inserted } ?? true) }
    repeatedInvites = first.count - invites.count
    let sequences = Set(invites.compactMap(\.sequence))
    responses = messages.filter { message in
      !message.isSent && !message.isRepeated && message.status != nil && message.sequenceMethod == "INVITE"
        && (message.sequence.map(sequences.contains) ?? true)
    }
    offer = invites.last.flatMap { EvidenceDescription($0.body) }
    let described = responses.filter { $0.status.map { $0 > 100 && $0 < 300 } ?? false && !$0.body.isEmpty }
    answer = (described.first { ($0.status ?? 0) >= 200 } ?? described.last).flatMap { EvidenceDescription($0.body) }
  }

  var invite: EvidenceMessage? { invites.last }
  var name: String { trunk ?? "the address that was called" }

  var challenges: [EvidenceMessage] { responses.filter { $0.status == 401 || $0.status == 407 } }
  /// INVITEs that carried an answer to a challenge.
  var proved: [EvidenceMessage] {
    invites.filter { $0.value("authorization") != nil || $0.value("proxy-authorization") != nil }
  }
  var provisionals: [EvidenceMessage] { responses.filter { ($0.status ?? 0) < 200 } }
  var hasRung: Bool { responses.contains { $0.status == 180 } }
  var firstResponse: EvidenceMessage? { responses.first }
  /// The first 2xx.
  var success: EvidenceMessage? { responses.first { ($0.status.map { 200...299 ~= $0 }) ?? false } }
  /// The response that ended it.
  var refusal: EvidenceMessage? { responses.last { ($0.status ?? 0) >= 300 } }
  var transport: String? { invites.last?.transport }

  func sent(_ method: String) -> EvidenceMessage? { messages.first { $0.isSent && $0.method == method } }
  func received(_ method: String) -> EvidenceMessage? { messages.first { !$0.isSent && $0.method == method } }

  /// The host that SIP came from and went to.
  var remoteHost: String? {
    guard let remote = invites.last?.remote, let colon = remote.lastIndex(of: ":") else { return nil }
    return String(remote[..<colon])
  }
}
