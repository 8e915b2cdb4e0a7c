public import CallModel

extension CallFailureEvidence {
  /// The evidence of a final response, from its header field values as they stand in the message, unfolded and without
  /// names. What cannot be read is left out: a response fails no further for its explanation.
  /// - Parameters:
  ///   - reasonFields: Every Reason header, in order.
  ///   - retryAfterField: The Retry-After header.
  public init(
    status: Int, phrase: String, reasonFields: some Sequence<String>, retryAfterField: String?, hasRung: Bool = false,
    wasCancelledByCaller: Bool = false, hasRingTimerFired: Bool = false
  ) {
    self.init(
      status: status, phrase: phrase, reasons: ReasonHeader(fields: reasonFields).reasons,
      retryAfterSeconds: retryAfterField.flatMap { try? RetryAfter(parsing: $0) }?.seconds, hasRung: hasRung,
      wasCancelledByCaller: wasCancelledByCaller, hasRingTimerFired: hasRingTimerFired)
  }
}
