/// What `landline call --inbound` was asked, as written.
package struct InboundCallOptions: Sendable {
  /// A number of the gateway's.
  package var number: String
  /// The number that calls, or anonymous.
  package var caller: String?
  /// `10s`: how long the far end talks from the answer on; `nil`: until the other side hangs up.
  package var duration: String?
  /// A WAV file to be made of what the far end hears.
  package var record: String?
  /// The SIP status that the call must fail with.
  package var expectSIP: Int?
  package var control: String?
  package var environment: String?

  package init(number: String) { self.number = number }
}
