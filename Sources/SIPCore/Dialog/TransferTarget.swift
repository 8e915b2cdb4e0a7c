package import CallModel

/// Whom a REFER asks us to call (RFC 3515 section 2.1, RFC 3891).
package struct TransferTarget: Hashable, Sendable {
  /// Without header fields in its URI.
  package let address: NameAddress
  /// The value of Replaces, without escapes: the call that the new one takes the place of.
  package let replaces: String?

  /// Reads the value of Refer-To.
  /// - Throws: `InvalidValue` with rules `referTo.method` (only INVITE can be asked for), `referTo.replaces` and
  ///   those of `NameAddress` and `Replaces`.
  package init(parsing text: some StringProtocol) throws(InvalidValue) {
    var address = try NameAddress(parsing: text)
    func refusal(_ rule: String, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "Refer-To header", rule: "referTo.\(rule)", offset: nil, problem: problem,
        accepted: "an address to be called, such as <sip:bob@example.com>")
    }
    let method = address.uri.parameters["method"]?.value ?? SIPMethod.invite.rawValue
    guard method == SIPMethod.invite.rawValue else {
      throw refusal("method", "a method other than INVITE is asked for")
    }
    if let escaped = address.uri.headers["replaces"]?.value {
      guard let value = SIPURI.unescaped(escaped) else {
        throw refusal("replaces", "the escapes of Replaces are broken, or stand for a control byte")
      }
      _ = try Replaces(parsing: value)
      replaces = value
    } else {
      replaces = nil
    }
    address.uri.headers = []
    address.uri.parameters.removeAll { $0.name == "method" }
    self.address = address
  }
}
