package import CallModel

/// How long things are kept, in milliseconds.
package struct Retention: Hashable, Sendable {
  /// Records of calls; `nil` for ever.
  package var recordMilliseconds: Int64?
  /// What apps measured, where that is shorter.
  package var statisticsMilliseconds: Int64?
  /// Traces of calls; `nil` where none are kept any longer.
  package var traceMilliseconds: Int64?

  package init(
    recordMilliseconds: Int64? = nil, statisticsMilliseconds: Int64? = nil, traceMilliseconds: Int64? = nil
  ) {
    self.recordMilliseconds = recordMilliseconds
    self.statisticsMilliseconds = statisticsMilliseconds
    self.traceMilliseconds = traceMilliseconds
  }

  /// What may be forgotten now: everything from before these moments.
  package struct Due: Hashable, Sendable {
    /// What repeats of calls' operations no longer need.
    package var callOperations: Instant
    /// Whatever is kept for ever: what has ended beside the records goes with this as well.
    package var records: Instant
    package var statistics: Instant?
    package var traces: Instant
  }

  func due(at clock: Instant, callOperationMilliseconds: Int64) -> Due {
    Due(
      callOperations: clock.advanced(byMilliseconds: -callOperationMilliseconds),
      records: recordMilliseconds.map { clock.advanced(byMilliseconds: -$0) } ?? .distantPast,
      statistics: statisticsMilliseconds.map { clock.advanced(byMilliseconds: -$0) },
      traces: clock.advanced(byMilliseconds: -(traceMilliseconds ?? 0)))
  }
}
