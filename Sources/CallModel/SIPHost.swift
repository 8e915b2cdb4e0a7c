/// The host of a SIP address: a DNS name or a numeric address. Equal hosts are equal values, whatever their spelling.
public enum SIPHost: Hashable, Sendable {
  /// Labels of RFC 1123 in lower case, without a final dot.
  case name(String)
  /// Network byte order: the first octet is the highest.
  case ipv4(UInt32)
  /// The sixteen octets, the first eight in `high`.
  case ipv6(high: UInt64, low: UInt64)

  /// Most characters of a host name (RFC 1123 section 2.1, RFC 1035 section 2.3.4).
  public static let maximumNameLength = 253
  /// Most characters of one label.
  public static let maximumLabelLength = 63
  /// Most characters of a written IPv6 address with an IPv4 tail.
  static let maximumIPv6Length = 45

  /// Reads a host name, a dotted IPv4 address or an IPv6 address in brackets.
  /// - Parameter base: Added to every offset, for a host inside a longer text.
  /// - Throws: ``InvalidValue`` with rules `sip.host`, `sip.label`, `sip.hostLong`, `sip.ipv4`, `sip.ipv6`.
  init(_ bytes: ArraySlice<UInt8>, base: Int) throws(InvalidValue) {
    try self.init(bytes, base: base, isSignalled: false)
  }

  /// - Parameter isSignalled: Whether names may be as those in messages of others, see ``init(signalled:base:)``.
  init(_ bytes: ArraySlice<UInt8>, base: Int, isSignalled: Bool) throws(InvalidValue) {
    guard let first = bytes.first else { throw SIPAddress.refusal("host", base, "the domain is missing") }
    if first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"), bytes.count > 2 else {
        throw SIPAddress.refusal("ipv6", base, "the bracket of the IPv6 address is not closed")
      }
      guard let address = SIPHost.ipv6(Array(bytes.dropFirst().dropLast())) else {
        throw SIPAddress.refusal("ipv6", base + 1, "the brackets do not hold an IPv6 address")
      }
      self = .ipv6(high: address.high, low: address.low)
      return
    }
    if bytes.allSatisfy({ SIPCharacter.isDigit($0) || $0 == UInt8(ascii: ".") }) {
      guard let address = SIPHost.ipv4(bytes) else {
        throw SIPAddress.refusal("ipv4", base, "the digits are not four numbers of 0 to 255 without leading zeros")
      }
      self = .ipv4(address)
      return
    }
    self = .name(try SIPHost.name(bytes, base: base, isSignalled: isSignalled))
  }

  private static func name(
    _ written: ArraySlice<UInt8>, base: Int, isSignalled: Bool
  ) throws(InvalidValue) -> String {
    // One final dot marks the name as absolute and adds nothing.
    let bytes = written.last == UInt8(ascii: ".") ? written.dropLast() : written
    guard bytes.count <= maximumNameLength else {
      throw SIPAddress.refusal(
        "hostLong", base + maximumNameLength, "the host name has more than \(maximumNameLength) characters")
    }
    var labelStart = bytes.startIndex
    for index in bytes.startIndex...bytes.endIndex {
      let offset = base + index - bytes.startIndex
      guard index == bytes.endIndex || bytes[index] == UInt8(ascii: ".") else {
        let byte = bytes[index]
        let isTolerated = isSignalled && byte == UInt8(ascii: "_")
        guard SIPCharacter.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || isTolerated else {
          throw SIPAddress.refusal("host", offset, "\(InvalidValue.name(of: byte)) cannot stand in a host name")
        }
        continue
      }
      let label = bytes[labelStart..<index]
      guard !label.isEmpty else { throw SIPAddress.refusal("label", offset, "a label of the host name is empty") }
      guard label.count <= maximumLabelLength else {
        throw SIPAddress.refusal("label", offset, "a label has more than \(maximumLabelLength) characters")
      }
      guard label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else {
        throw SIPAddress.refusal("label", offset, "a label begins or ends with '-'")
      }
      // RFC 3261 wants the last label to begin with a letter: it tells names from IPv4 addresses.
      if index == bytes.endIndex, let first = label.first, SIPCharacter.isDigit(first),
        !isSignalled || SIPHost.isNumber(label)
      {
        throw SIPAddress.refusal(
          "label", base + labelStart - bytes.startIndex, "the last label of the host name begins with a digit")
      }
      labelStart = index + 1
    }
    return String(
      decoding: bytes.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }, as: UTF8.self)
  }

  /// Digits, or `0x` with hexadecimal ones: some resolvers take a name that ends so for an IPv4 address.
  private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy(SIPCharacter.isDigit) { return true }
    let start = label.prefix(2).map { $0 | 0x20 }
    return start == Array("0x".utf8).map { $0 | 0x20 }
      && label.dropFirst(2).allSatisfy { SIPCharacter.hexadecimal($0) != nil }
  }

  private static func ipv4(_ bytes: ArraySlice<UInt8>) -> UInt32? {
    guard bytes.count <= 15 else { return nil }
    var address: UInt32 = 0
    var dots = 0
    var digits = 0
    var octet: UInt32 = 0
    for byte in bytes {
      if byte == UInt8(ascii: ".") {
        guard digits > 0, dots < 3 else { return nil }
        address = address << 8 | octet
        dots += 1
        digits = 0
        octet = 0
        continue
      }
      // A leading zero means octal to some readers and decimal to others.
      guard SIPCharacter.isDigit(byte), digits == 0 || octet != 0 else { return nil }
      octet = octet * 10 + UInt32(byte - UInt8(ascii: "0"))
      digits += 1
      guard octet <= 255 else { return nil }
    }
    guard dots == 3, digits > 0 else { return nil }
    return address << 8 | octet
  }

  /// RFC 4291 section 2.2: eight groups, at most one `::`, an IPv4 tail. Zone names are refused: they mean something
  /// on one machine only.
  private static func ipv6(_ bytes: [UInt8]) -> (high: UInt64, low: UInt64)? {
    guard bytes.count <= maximumIPv6Length else { return nil }
    var groups: [UInt64] = []
    var gap: Int?
    var index = 0
    if bytes.starts(with: [0x3A, 0x3A]) {
      gap = 0
      index = 2
    }
    while index < bytes.count {
      let part = bytes[index...].prefix { $0 != UInt8(ascii: ":") }
      if part.contains(UInt8(ascii: ".")) {
        guard part.endIndex == bytes.count, let tail = ipv4(part) else { return nil }
        groups.append(UInt64(tail >> 16))
        groups.append(UInt64(tail & 0xFFFF))
        index = bytes.count
        break
      }
      guard (1...4).contains(part.count), groups.count < 8 else { return nil }
      var group: UInt64 = 0
      for byte in part {
        guard let digit = SIPCharacter.hexadecimal(byte) else { return nil }
        group = group << 4 | UInt64(digit)
      }
      groups.append(group)
      index = part.endIndex
      guard index < bytes.count else { break }
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
        guard gap == nil else { return nil }
        gap = groups.count
        index += 1
      } else if index == bytes.count {
        return nil
      }
    }
    if let gap {
      // `::` stands for at least one group.
      guard groups.count < 8 else { return nil }
      groups.insert(contentsOf: [UInt64](repeating: 0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { return nil }
    return (groups[..<4].reduce(0) { $0 << 16 | $1 }, groups[4...].reduce(0) { $0 << 16 | $1 })
  }
}

extension SIPHost: CustomStringConvertible {
  /// As it stands in a URI: lower case, IPv6 in brackets in the form of RFC 5952.
  public var description: String {
    switch self {
    case .name(let name): name
    case .ipv4(let address): SIPHost.dotted(address)
    case .ipv6(let high, let low): "[\(SIPHost.compressed(high: high, low: low))]"
    }
  }

  private static func dotted(_ address: UInt32) -> String {
    "\(address >> 24).\(address >> 16 & 0xFF).\(address >> 8 & 0xFF).\(address & 0xFF)"
  }

  private static func compressed(high: UInt64, low: UInt64) -> String {
    if high == 0, low >> 32 == 0xFFFF { return "::ffff:\(dotted(UInt32(truncatingIfNeeded: low)))" }
    let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { half >> UInt64($0) & 0xFFFF } }
    // The first of the longest runs of at least two zero groups is written `::`.
    var best = 0..<0
    var start = 0
    while start < groups.count {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start >= 2, end - start > best.count { best = start..<end }
      start = max(end, start) + 1
    }
    func written(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    if best.isEmpty { return written(0..<8) }
    return "\(written(0..<best.lowerBound))::\(written(best.upperBound..<8))"
  }
}
