/// The headers an application may hand to the other side of a call, within one byte budget.
///
/// What leaves as SIP headers has names that start with `x-`, so that none can be mistaken for one of SIP's own. Between
/// apps any token is a name.
///
/// Order and spelling are kept; names are compared without regard to case (RFC 3261 section 7.3.1). The budget also
/// bounds how many there can be.
public struct CustomHeaders: Hashable, Sendable {
  /// One header. Only ``CustomHeaders/append(name:value:names:)`` makes one, so it has been checked.
  public struct Field: Hashable, Sendable {
    /// In the spelling in which it was given; 1 to ``CustomHeaders/maximumNameBytes`` bytes, all ASCII.
    public let name: String
    /// UTF-8 without control characters and without a space at either end; may be empty.
    public let value: String
  }

  /// What a header's name may be.
  public enum Names: Hashable, Sendable {
    /// `x-` and a SIP token: for calls to phones and SIP addresses.
    case prefixed
    /// Any SIP token: for calls between apps.
    case tokens
  }

  /// Most bytes of UTF-8 that all names and values may take together.
  public static let maximumBytes = 1024
  /// Most bytes of one name.
  public static let maximumNameBytes = 64

  private var fields: [Field] = []
  /// Bytes of UTF-8 in all names and values.
  public private(set) var byteCount = 0

  /// No headers.
  public init() {}

  /// - Throws: ``InvalidValue``, see ``append(name:value:names:)``.
  public init(
    _ pairs: some Sequence<(name: String, value: String)>, names: Names = .prefixed
  ) throws(InvalidValue) {
    for pair in pairs { try append(name: pair.name, value: pair.value, names: names) }
  }

  /// Adds one header at the end; nothing changes when it is refused.
  ///
  /// A value may hold any UTF-8 but control characters, the tab among them, and neither starts nor ends with a space,
  /// which SIP would drop on the way.
  /// - Throws: ``InvalidValue`` whose kind names the header, with rules `header.prefix`, `header.name`,
  ///   `header.nameLong`, `header.value`, `header.blank`, `header.duplicate`, `header.budget`. The offset counts in the
  ///   name for the rules on names and in the value for those on values.
  public mutating func append(name: String, value: String, names: Names = .prefixed) throws(InvalidValue) {
    try CustomHeaders.checkName(name, names)
    try CustomHeaders.checkValue(value, of: name, names)
    guard self[name] == nil else {
      throw CustomHeaders.refusal(
        name, names, "duplicate", nil, "the name is already taken, upper and lower case are the same")
    }
    let total = byteCount + name.utf8.count + value.utf8.count
    guard total <= CustomHeaders.maximumBytes else {
      throw CustomHeaders.refusal(
        name, names, "budget", nil, "with this header the names and values take \(total) bytes together")
    }
    byteCount = total
    fields.append(Field(name: name, value: value))
  }

  /// Those that may leave by SIP: whose names begin with `x-`.
  public var prefixed: CustomHeaders {
    var headers = CustomHeaders()
    for field in fields { try? headers.append(name: field.name, value: field.value) }
    return headers
  }

  /// The value of the header with this name in any case; `nil` when there is none.
  public subscript(name: String) -> String? {
    fields.first { CustomHeaders.areSame($0.name.utf8, name.utf8) }?.value
  }

  private static func areSame(_ left: String.UTF8View, _ right: String.UTF8View) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  private static func checkName(_ name: String, _ names: Names) throws(InvalidValue) {
    let bytes = name.utf8
    switch names {
    case .prefixed:
      let first = bytes.first.map(lowercased)
      guard first == UInt8(ascii: "x"), bytes.dropFirst().first == UInt8(ascii: "-") else {
        throw refusal(name, names, "prefix", 0, "the name does not start with x-")
      }
      guard bytes.count > 2 else { throw refusal(name, names, "name", 2, "nothing follows x-") }
    case .tokens:
      guard !bytes.isEmpty else { throw refusal(name, names, "name", 0, "the name is empty") }
    }
    guard bytes.count <= maximumNameBytes else {
      throw refusal(
        name, names, "nameLong", maximumNameBytes, "the name has more than \(maximumNameBytes) characters")
    }
    for (offset, byte) in bytes.enumerated() where !SIPCharacter.isToken(byte) {
      throw refusal(name, names, "name", offset, "\(InvalidValue.name(of: byte)) cannot stand in a header name")
    }
  }

  private static func checkValue(_ value: String, of name: String, _ names: Names) throws(InvalidValue) {
    var previous: UInt8 = 0
    var offset = 0
    for byte in value.utf8 {
      // U+0080 to U+009F are control characters too; UTF-8 writes them as C2 80 to C2 9F.
      let isHighControl = previous == 0xC2 && byte < 0xA0
      guard !isHighControl else {
        throw refusal(
          name, names, "value", offset,
          "control character U+00\(String(byte, radix: 16, uppercase: true)) cannot stand in a header value")
      }
      guard byte >= 0x20, byte != 0x7F else {
        throw refusal(name, names, "value", offset, "\(InvalidValue.name(of: byte)) cannot stand in a header value")
      }
      // The budget says the rest: reading on would let a huge value cost time.
      guard offset < maximumBytes else {
        throw refusal(name, names, "budget", nil, "the value alone takes more than \(maximumBytes) bytes")
      }
      previous = byte
      offset += 1
    }
    guard value.utf8.first != 0x20, previous != 0x20 else {
      throw refusal(
        name, names, "blank", value.utf8.first == 0x20 ? 0 : offset - 1, "the value starts or ends with a space")
    }
  }

  private static func refusal(
    _ name: String, _ names: Names, _ rule: String, _ offset: Int?, _ problem: String
  ) -> InvalidValue {
    let prefix = names == .prefixed
    // The name comes from outside: at most a name's length of it, and only what is printable, goes into a message.
    let shown = String(
      decoding: name.utf8.prefix(maximumNameBytes).map { $0 > 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") },
      as: UTF8.self)
    return InvalidValue(
      kind: "custom header \(shown.isEmpty ? "without a name" : shown)", rule: "header.\(rule)", offset: offset,
      problem: problem,
      accepted:
        "\(prefix ? "x- and " : "")a SIP token of at most \(maximumNameBytes) characters, once each; values without control "
        + "characters; \(maximumBytes) bytes together; such as \(prefix ? "x-" : "")order: 4711")
  }
}

extension CustomHeaders: RandomAccessCollection {
  /// Always 0.
  public var startIndex: Int { fields.startIndex }
  /// As many as there are headers.
  public var endIndex: Int { fields.endIndex }
  /// The header at this place, in the order in which they were added.
  public subscript(position: Int) -> Field { fields[position] }
}

extension CustomHeaders: CustomStringConvertible {
  /// Names only: values may be private.
  public var description: String { "[" + fields.map(\.name).joined(separator: ", ") + "]" }
}
