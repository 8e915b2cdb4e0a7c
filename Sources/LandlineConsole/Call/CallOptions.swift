/// What `landline call` was asked, as written.
package struct CallOptions: Sendable {
  /// `+46…`, `tel:…`, `sip:…`, `user:…`, `conf:…`.
  package var target: String
  /// `x-name: value`.
  package var headers: [String] = []
  /// A WAV file to be heard by the other side.
  package var play: String?
  package var playsForever = false
  /// A WAV file to be made: left what is sent, right what is received.
  package var record: String?
  /// Keys to press once the call is answered.
  package var keys: String?
  /// The SIP status that the call must fail with.
  package var expectSIP: Int?
  /// `10s`, `800ms`, `2m`: how long the call is held from its answer on; `nil`: until the other side ends it.
  package var duration: String?
  /// The number to show.
  package var caller: String?
  package var app = AppOptions()

  package init(target: String) { self.target = target }
}
