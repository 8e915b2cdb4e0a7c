import AppProtocol
import CallEngine
import CallModel

/// Calls for the tests of routes.
struct CallRecordFixture: Sendable {
  var record: CallRecord

  static func snapshot(_ id: String, _ account: String, environment: String = "production") -> CallSnapshot {
    var call = CallSnapshot(
      id: CallID(unchecked: id), environment: environment, account: AccountName(unchecked: account),
      application: "key", user: nil, kind: .phone, destination: "+46701234567", state: .established,
      startedAt: Instant(seconds: 1_795_000_000), currency: .eur)
    call.answeredAt = Instant(seconds: 1_795_000_003)
    call.heldMicro = 1_500_000
    call.quality = CallQuality(
      sent: .init(meanOpinionScore: 4.2, jitter: 1.5, loss: 0, packets: 50),
      received: .init(meanOpinionScore: 4.1, jitter: 2, loss: 0.01, packets: 49), roundTrip: nil)
    return call
  }

  init(_ id: String, _ account: String, failure: CallFailure? = nil) {
    var call = Self.snapshot(id, account)
    call.state = .ended
    var summary = CallSummary(
      startedAt: call.startedAt, endedAt: Instant(seconds: 1_795_000_066), cause: failure == nil ? .hungUp : .error,
      currency: "EUR")
    summary.failure = failure
    summary.costMicro = failure == nil ? 12_345 : nil
    record = CallRecord(call: call, summary: summary)
    record.callerNumber = "+46812345678"
    record.attempts = [
      CallAttempt(
        trunk: "one", startedAt: call.startedAt, endedAt: summary.endedAt, sipStatus: 486, code: .busy)
    ]
    record.story = [.init(milliseconds: 0, text: "asked")]
    record.clientStatistics = ["jitter": 0.5, "packetsLost": 3]
    record.meanScoreNear = 4
    record.flags = [CallRecord.Flag(rawValue: "transferred")]
  }
}
