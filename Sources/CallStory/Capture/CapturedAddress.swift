import CallModel

/// The address of one end of a captured packet.
struct CapturedAddress: Hashable, Sendable {
  /// Four or sixteen bytes.
  let bytes: [UInt8]
  let port: UInt16

  var isIPv6: Bool { bytes.count == 16 }

  init(bytes: [UInt8], port: UInt16) {
    self.bytes = bytes
    self.port = port
  }

  /// Reads `192.0.2.1:5060` or `[2001:db8::1]:5060`; a name is no address.
  init?(_ text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = text[..<colon]
    if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") { host = host.dropFirst().dropLast() }
    // A zone of a link-local address means nothing elsewhere.
    let plain = String(host.prefix { $0 != "%" })
    guard let host = try? SIPHost(unbracketed: plain) else { return nil }
    switch host {
    case .name: return nil
    case .ipv4(let value): self.init(bytes: CapturedAddress.bytes(value), port: port)
    case .ipv6(let high, let low):
      self.init(bytes: CapturedAddress.bytes(high) + CapturedAddress.bytes(low), port: port)
    }
  }

  /// Both ends of a message, of one family. Where either is not known both are made up of addresses that are kept for
  /// documents (RFC 5737), ours first.
  static func pair(_ local: String, _ remote: String) -> (
    local: CapturedAddress, remote: CapturedAddress, isMadeUp: Bool
  ) {
    if let local = CapturedAddress(local), let remote = CapturedAddress(remote), local.isIPv6 == remote.isIPv6 {
      return (local, remote, false)
    }
    return (
      CapturedAddress(bytes: [192, 0, 2, 1], port: 5060), CapturedAddress(bytes: [192, 0, 2, 2], port: 5060), true
    )
  }

  private static func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
    stride(from: T.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> T($0)) }
  }
}
