/// Issuer and subject of a certificate (RFC 5280 section 4.1), read from its DER encoding as one short name each.
struct DistinguishedNames {
  let issuer: String?
  let subject: String?

  /// Most characters of a name.
  private static let maximumLength = 128

  init?(_ bytes: [UInt8]) {
    var all = DERReader(bytes[...])
    guard var certificate = all.enter(0x30), var body = certificate.enter(0x30) else { return nil }
    // The version, which old certificates leave out; then serial number and algorithm.
    if body.peek == 0xA0 { _ = body.readValue(0xA0) }
    guard body.readValue(0x02) != nil, body.readValue(0x30) != nil, let issuer = body.enter(0x30),
      body.readValue(0x30) != nil,
      let subject = body.enter(0x30)
    else { return nil }
    self.issuer = DistinguishedNames.name(issuer)
    self.subject = DistinguishedNames.name(subject)
  }

  /// commonName, else organizationName.
  private static func name(_ sequence: DERReader) -> String? {
    var sequence = sequence
    var found: [UInt8: String] = [:]
    while var set = sequence.enter(0x31) {
      while var pair = set.enter(0x30) {
        guard let type = pair.readValue(0x06), type.count == 3, type.starts(with: [0x55, 0x04]), let kind = type.last,
          let tag = pair.peek, let value = pair.readValue(tag)
        else { continue }
        // BMPString has two bytes a character; the other kinds read as UTF-8, ASCII included.
        let text =
          tag == 0x1E
          ? String(
            decoding: value.indices.dropFirst().filter { ($0 - value.startIndex) % 2 == 1 }.map { value[$0] },
            as: UTF8.self)
          : String(decoding: value, as: UTF8.self)
        found[kind] = found[kind] ?? printable(text)
      }
    }
    return found[0x03] ?? found[0x0A]
  }

  private static func printable(_ text: String) -> String {
    String(
      text.unicodeScalars.prefix(maximumLength).map { scalar in
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : Character(scalar)
      })
  }
}

/// Walks over values of definite length.
private struct DERReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The tag of the next value.
  var peek: UInt8? { rest.first }

  /// The content of the next value, where it has this tag.
  mutating func readValue(_ tag: UInt8) -> ArraySlice<UInt8>? {
    guard rest.first == tag, let first = rest.dropFirst().first else { return nil }
    var content = rest.dropFirst(2)
    var length = Int(first)
    if first >= 0x80 {
      let count = Int(first & 0x7F)
      guard (1...3).contains(count), content.count >= count else { return nil }
      length = content.prefix(count).reduce(0) { $0 << 8 | Int($1) }
      content = content.dropFirst(count)
    }
    guard length <= content.count else { return nil }
    rest = content.dropFirst(length)
    return content.prefix(length)
  }

  mutating func enter(_ tag: UInt8) -> DERReader? { readValue(tag).map { DERReader($0) } }
}
