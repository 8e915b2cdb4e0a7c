/// What a simulation of signalling did and saw. Two runs of one seed differ in their times only.
public struct SignallingReport: Hashable, Sendable {
  public var seed: UInt64
  public var calls = 0
  /// Calls that came up on both sides.
  public var established = 0
  /// Ends of calls by both sides: `up, local / up, remote`.
  public var outcomes: [String: Int] = [:]
  /// Events that agents told, by name.
  public var events: [String: Int] = [:]
  /// Messages that agents sent, by method or status.
  public var messages: [String: Int] = [:]
  public var sent = 0
  public var lost = 0
  public var duplicated = 0
  public var reordered = 0
  public var damaged = 0
  /// Milliseconds of virtual time until everything was at rest, of all pairs.
  public var virtualMilliseconds: Int64 = 0
  public var seconds = 0.0
  /// Over every message and event in order.
  public var digest = ""

  public init(seed: UInt64) { self.seed = seed }

  public var callsPerSecond: Double { seconds > 0 ? Double(calls) / seconds : 0 }

  /// For comparing runs.
  public var withoutTimes: SignallingReport {
    var report = self
    report.seconds = 0
    return report
  }

  public mutating func add(_ other: SignallingReport) {
    calls += other.calls
    established += other.established
    outcomes.merge(other.outcomes, uniquingKeysWith: +)
    events.merge(other.events, uniquingKeysWith: +)
    messages.merge(other.messages, uniquingKeysWith: +)
    sent += other.sent
    lost += other.lost
    duplicated += other.duplicated
    reordered += other.reordered
    damaged += other.damaged
    virtualMilliseconds += other.virtualMilliseconds
    seconds += other.seconds
    var both = OutcomeDigest()
    both.add(digest)
    both.add(other.digest)
    digest = both.text
  }
}

/// The agents broke a rule: which run, when in it, what, and what led there.
public struct SignallingViolation: Error, Sendable, CustomStringConvertible {
  public let seed: UInt64
  /// Calls that the run was to do: part of what makes it repeatable.
  public let calls: Int
  /// Milliseconds of virtual time.
  public let atMilliseconds: Int64
  /// `nil` where no single call is concerned.
  public let call: Int?
  public let detail: String
  /// What the call concerned sent, heard and did, oldest first.
  public let trace: [String]

  public var description: String {
    let subject = call.map { ", call \($0)" } ?? ""
    return (["seed \(seed), \(calls) calls, \(atMilliseconds) ms\(subject): \(detail)"] + trace.map { "  \($0)" })
      .joined(separator: "\n")
  }
}
