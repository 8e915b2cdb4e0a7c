/// What a simulation of signalling did and saw. Two runs of one seed differ in their times only.
public struct SignallingReport: Hashable, Sendable {
  /// Of the first pair of agents; each further pair has the next.
  public var seed: UInt64
  /// Calls that agents were to place, whatever became of them.
  public var calls = 0
  /// Calls that came up on both sides.
  public var established = 0
  /// Ends of calls by both sides: `up, local / up, remote`.
  public var outcomes: [String: Int] = [:]
  /// Events that agents told, by name.
  public var events: [String: Int] = [:]
  /// Messages that agents sent, by method or status.
  public var messages: [String: Int] = [:]
  /// Datagrams that agents sent, whether or not they arrived.
  public var sent = 0
  /// Datagrams that never arrived, by chance or because the network was cut.
  public var lost = 0
  /// Datagrams that were sent on twice.
  public var duplicated = 0
  /// Copies that were held back for up to some seconds, so that later ones could overtake them.
  public var reordered = 0
  /// Datagrams whose first copy was damaged on its way.
  public var damaged = 0
  /// Milliseconds of virtual time until everything was at rest, of all pairs.
  public var virtualMilliseconds: Int64 = 0
  /// Seconds on the real clock.
  public var seconds = 0.0
  /// Over every message and event in order.
  public var digest = ""

  /// Counts of nothing yet, for ``add(_:)`` to add to.
  public init(seed: UInt64) { self.seed = seed }

  /// Calls for each second on the real clock; 0 for a run of no length.
  public var callsPerSecond: Double { seconds > 0 ? Double(calls) / seconds : 0 }

  /// For comparing runs.
  public var withoutTimes: SignallingReport {
    var report = self
    report.seconds = 0
    return report
  }

  /// Adds another run's counts and times. The digest covers both in this order; the seed stays.
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
  /// Seed of the pair of agents concerned: a run of several pairs counts up from its own.
  public let seed: UInt64
  /// Calls that the run was to do: part of what makes it repeatable.
  public let calls: Int
  /// Milliseconds of virtual time.
  public let atMilliseconds: Int64
  /// `nil` where no single call is concerned.
  public let call: Int?
  /// What was wrong, for people.
  public let detail: String
  /// What the call concerned sent, heard and did, oldest first.
  public let trace: [String]

  /// One line with the seed, the number of calls, the time and the problem, then the trace, indented.
  public var description: String {
    let subject = call.map { ", call \($0)" } ?? ""
    return (["seed \(seed), \(calls) calls, \(atMilliseconds) ms\(subject): \(detail)"] + trace.map { "  \($0)" })
      .joined(separator: "\n")
  }
}
