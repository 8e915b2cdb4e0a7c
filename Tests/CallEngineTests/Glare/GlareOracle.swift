import AppProtocol
import CallEngine
import CallModel

/// What has to come of a run, told from the datagrams and the app's requests alone, with the rules in a few lines:
/// the first thing that ends a call counts, a call is charged from the 200 to that, by the second, and not at all where
/// nobody answered.
struct GlareOracle {
  struct Outcome: CustomStringConvertible {
    var name: String
    var cause: CallEndCause
    /// When the gateway ends it; `nil` where that hangs on timers of a transaction.
    var at: Int64?
    /// Microseconds by which it may be later.
    var slack: Int64 = 0
    /// What is charged; `nil`: from the answer to the end.
    var micro: MicroUnits?
    /// BYEs, and CANCELs of the first INVITE, that the gateway sends.
    var byes = 0
    var cancels = 0
    var description: String { "\(name) at \(at.map(String.init) ?? "-") for \(micro.map(String.init) ?? "-")" }
  }

  private struct Deadline {
    var at: Int64
    /// Of timers inside the agent, which start a moment later than the datagram they watch.
    var slack: Int64 = 0
    var name: String
  }

  /// RFC 3261: 64 × T1.
  private static let timeout: Int64 = 32_000_000
  /// Session-Expires 90, less a third (RFC 4028 section 10).
  private static let session: Int64 = 60_000_000
  private static let deadMedia: Int64 = 30_000_000
  /// Timers of transactions count whole milliseconds.
  private static let timerStep: Int64 = 1_000

  private let run: GlareRun
  private(set) var answeredAt: Int64?
  /// The first 200 to the INVITE at the gateway, wanted or not.
  private(set) var successAt: Int64?
  /// Any of them is right.
  private(set) var outcomes: [Outcome] = []
  private var ringEnd: Int64?
  private var provisionalAt: Int64?
  private var deadlines: [String: Deadline] = [:]
  private var succeeded: Set<String> = []

  init(_ run: GlareRun) {
    self.run = run
    successAt =
      run.entries.first { entry in
        if case .incoming(let line) = entry.kind { return GlareOracle.isFirst(line) && line.status == 200 }
        return false
      }?.time
    for entry in run.entries {
      if let answeredAt, isDue(at: entry.time, answeredAt) { return }
      if answeredAt == nil ? endsBefore(entry) : endsAfter(entry) { return }
    }
    if let answeredAt {
      _ = isDue(at: .max, answeredAt)
    } else {
      outcomes.append(Outcome(name: "rang for ever", cause: .noAnswer, micro: 0, cancels: 1))
    }
  }

  private static func isFirst(_ line: GlareLine) -> Bool { line.method == "INVITE" && line.sequence == 1 }

  /// By the second, at a thousand micro-units, from whole milliseconds.
  static func cost(from start: Int64, to end: Int64) -> MicroUnits {
    let milliseconds = max(0, (end - start) / 1000)
    return GlareRun.rate * ((milliseconds + 999) / 1000)
  }

  /// - Returns: Whether the call is over with this.
  private mutating func endsBefore(_ entry: GlareRun.Entry) -> Bool {
    let time = entry.time
    let hasRung = ringEnd.map { $0 <= time } ?? false
    let isTie = ringEnd == time
    // It goes out once the trunk has said anything (RFC 3261 section 9.1).
    if let ringEnd, let provisionalAt, max(ringEnd, provisionalAt) + GlareOracle.timeout <= time {
      let end = max(ringEnd, provisionalAt) + GlareOracle.timeout
      // Nobody answered the CANCEL either.
      outcomes.append(
        Outcome(
          name: "rang in vain", cause: .noAnswer, at: end - GlareOracle.timerStep, slack: 1_000_000, micro: 0,
          cancels: 1))
      if end + 1_000_000 < time { return true }
    }
    switch entry.kind {
    case .hangUp, .sessionEnded:
      var isHangUp = false
      if case .hangUp = entry.kind { isHangUp = true }
      outcomes.append(
        Outcome(
          name: isHangUp ? "given up" : "app lost", cause: isHangUp ? .canceled : .error, at: time, micro: 0,
          byes: successAt == nil ? 0 : 1, cancels: 1))
      return true
    case .incoming(let line):
      guard GlareOracle.isFirst(line), let status = line.status else { return false }
      if status < 200 {
        // It rings from the first response on; one that comes too late finds the call given up.
        if provisionalAt == nil, !hasRung || isTie { ringEnd = time + run.ringMilliseconds * 1000 }
        provisionalAt = provisionalAt ?? time
        return false
      }
      if status >= 300 {
        if hasRung { outcomes.append(Outcome(name: "no answer", cause: .noAnswer, at: time, micro: 0, cancels: 1)) }
        if !hasRung || isTie { outcomes.append(Outcome(name: "refused", cause: .noAnswer, at: time, micro: 0)) }
        return true
      }
      if hasRung {
        outcomes.append(
          Outcome(name: "answered too late", cause: .noAnswer, at: time, micro: 0, byes: 1, cancels: 1))
        if !isTie { return true }
      }
      answeredAt = time
      deadlines["session"] = Deadline(at: time + GlareOracle.session, name: "session over")
      if let paid = run.paidSeconds { deadlines["credit"] = Deadline(at: time + paid * 1_000_000, name: "credit out") }
      return false
    case .outgoing(let line):
      if line.isRequest, GlareOracle.isFirst(line), ringEnd == nil { ringEnd = time + run.ringMilliseconds * 1000 }
      return false
    }
  }

  private mutating func endsAfter(_ entry: GlareRun.Entry) -> Bool {
    let time = entry.time
    func ended(_ name: String, _ cause: CallEndCause, byes: Int) -> Bool {
      outcomes.append(Outcome(name: name, cause: cause, at: time, byes: byes))
      return true
    }
    switch entry.kind {
    case .hangUp: return ended("app hung up", .hungUp, byes: 1)
    case .sessionEnded: return ended("app lost", .error, byes: 1)
    case .incoming(let line):
      if line.isRequest {
        if line.method == "ACK" { deadlines["ack \(line.sequence)"] = nil }
        return line.method == "BYE" ? ended("trunk hung up", .hungUp, byes: 0) : false
      }
      let key = "\(line.method) \(line.sequence)"
      guard let status = line.status, let deadline = deadlines[key] else { return false }
      if status < 200 {
        // Cancelled when it has not been answered in its time, given up when that is over once more.
        if line.method == "INVITE", succeeded.insert("1xx " + key).inserted {
          deadlines[key]?.at = deadline.at + GlareOracle.timeout
        }
        return false
      }
      deadlines[key] = nil
      if status < 300 { deadlines["session"]?.at = time + GlareOracle.session }
      if status == 481 { return ended("the trunk knows no such call", .error, byes: 0) }
      return status == 408 ? ended("timed out elsewhere", .error, byes: 1) : false
    case .outgoing(let line):
      guard !(line.isRequest && GlareOracle.isFirst(line)), line.method == "INVITE" || line.method == "UPDATE" else {
        return false
      }
      let key = "\(line.method) \(line.sequence)"
      if line.isRequest {
        if succeeded.insert("sent " + key).inserted {
          deadlines[key] = Deadline(
            at: time + GlareOracle.timeout - GlareOracle.timerStep, slack: 1_000_000, name: "\(key) timed out")
        }
      } else if let status = line.status, status >= 200, status < 300, succeeded.insert("answered " + key).inserted {
        deadlines["session"]?.at = time + GlareOracle.session
        if line.method == "INVITE" {
          deadlines["ack \(line.sequence)"] = Deadline(
            at: time + GlareOracle.timeout, slack: 1_000_000, name: "\(key) got no ACK")
        }
      }
      return false
    }
  }

  /// What a clock ended before `time`; at that very moment both are right.
  private mutating func isDue(at time: Int64, _ answeredAt: Int64) -> Bool {
    if let cutAt = run.cutAt {
      let silentSince = max(cutAt, run.farOpenAt ?? cutAt, answeredAt)
      let end = silentSince + GlareOracle.deadMedia
      // Whoever was never heard behind the answer has not vanished: the call is charged to its end.
      let dead = Outcome(
        name: "no sound", cause: .error, at: end,
        micro: GlareOracle.cost(from: answeredAt, to: silentSince > answeredAt ? silentSince : end), byes: 1)
      let isFirst = deadlines.values.allSatisfy { $0.at >= end }
      if end <= time, isFirst, !outcomes.contains(where: { $0.name == dead.name }) {
        outcomes.append(dead)
        // On hold nobody has to send.
        let mayBeHeld = run.it.has(.hold) || run.it.has(.reinvite) || run.it.has(.update)
        if end < time, !mayBeHeld { return true }
      }
    }
    guard let first = deadlines.values.min(by: { $0.at < $1.at }), first.at <= time else { return false }
    let isCredit = first.name == "credit out"
    outcomes.append(
      Outcome(
        name: first.name, cause: .error, at: first.at, slack: first.slack,
        micro: isCredit ? GlareOracle.cost(from: answeredAt, to: first.at) : nil, byes: 1))
    // The trunk's BYE came at that very moment: ours is not needed any more.
    if isCredit, first.at == time {
      outcomes.append(
        Outcome(
          name: "credit out at a BYE", cause: .error, at: first.at, slack: first.slack,
          micro: GlareOracle.cost(from: answeredAt, to: first.at), byes: 0))
    }
    for other in deadlines.values where other.at == first.at && other.name != first.name {
      outcomes.append(
        Outcome(
          name: other.name, cause: .error, at: other.at, slack: other.slack,
          micro: GlareOracle.cost(from: answeredAt, to: other.at), byes: 1))
    }
    return first.at + first.slack < time
  }
}
