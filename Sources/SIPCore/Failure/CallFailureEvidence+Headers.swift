public import CallModel

extension CallFailureEvidence {
  /// The evidence of a final response, from its header field values as they stand in the message, unfolded and without
  /// names. What cannot be read is left out: a response fails no further for its explanation.
  /// - Parameters:
  ///   - reasonFields: Every Reason header, in order.
  ///   - retryAfterField: The Retry-After header.
  ///   - callInfoFields: Every Call-Info header, in order.
  public init(
    status: Int, phrase: String, reasonFields: some Sequence<String>, retryAfterField: String?,
    callInfoFields: some Sequence<String> = [], hasRung: Bool = false,
    wasCancelledByCaller: Bool = false, hasRingTimerFired: Bool = false
  ) {
    let reasons = ReasonHeader(fields: reasonFields).reasons
    self.init(
      status: status, phrase: phrase, reasons: reasons,
      retryAfterSeconds: retryAfterField.flatMap { try? RetryAfter(parsing: $0) }?.seconds,
      redress: (603...608).contains(status) ? CallFailure.Redress(reasons: reasons, callInfo: callInfoFields) : nil,
      hasRung: hasRung,
      wasCancelledByCaller: wasCancelledByCaller, hasRingTimerFired: hasRingTimerFired)
  }
}
