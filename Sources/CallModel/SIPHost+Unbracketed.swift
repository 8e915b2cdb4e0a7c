extension SIPHost {
  /// Reads a host as a session description writes it: IPv6 stands without brackets there.
  /// - Throws: ``InvalidValue`` with the rules of ``SIPHost``.
  package init(unbracketed text: String) throws(InvalidValue) {
    let bytes = Array(text.utf8)
    let isIPv6 = bytes.contains(UInt8(ascii: ":"))
    let written = isIPv6 ? [UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")] : bytes
    try self.init(written[...], base: 0)
  }

  /// The host without the brackets of ``description``.
  package var unbracketed: String {
    switch self {
    case .name, .ipv4: description
    case .ipv6: String(description.dropFirst().dropLast())
    }
  }
}
