/// What `landline trunk test` was asked, as written.
package struct TrunkTestOptions: Sendable {
  /// A trunk of the configuration, or a sip or sips URI.
  package var subject: String
  /// Who is called; `nil`: nobody.
  package var number: String?
  /// The number that calls.
  package var caller: String?
  package var user: String?
  package var passwordFile: String?
  package var realm: String?
  /// Registers, though no configuration asks for it.
  package var registers = false
  /// `5s`, `800ms`: how long one answer may take.
  package var timeout = "5s"
  /// `15s`: how long a phone may ring before the call is taken back; `0s`: as soon as it rings.
  package var ringing = "15s"
  /// Numeric addresses with a port, in the order to ask.
  package var nameServers: [String] = []
  /// PEM files of authorities, in place of those of the configuration.
  package var authorities: [String] = []
  /// SHA-256 fingerprints, in place of what the configuration trusts.
  package var pins: [String] = []

  package init(subject: String) { self.subject = subject }
}
