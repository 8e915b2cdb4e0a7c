/// Where a text stops being JSON.
package struct JSONFault: Error, Hashable, Sendable {
  /// Byte from the start, 0 for the first.
  package let offset: Int
  package let problem: String
}

/// Reads JSON strictly (RFC 8259): one value, no member twice, no deeper than ``maximumDepth``.
package struct JSONReader {
  package static let maximumDepth = 32
  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func read(_ bytes: [UInt8]) throws(JSONFault) -> JSONTree {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw JSONFault(offset: JSONReader.firstInvalid(bytes), problem: "a byte sequence that is not UTF-8")
    }
    var reader = JSONReader(bytes)
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.index == bytes.count else { throw reader.fault("more after the end of the value") }
    return value
  }

  /// The offset of the first byte that spoils the text's UTF-8.
  private static func firstInvalid(_ bytes: [UInt8]) -> Int {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var good = 0
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { good += UTF8.width(scalar) }
    return min(good, bytes.count)
  }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private func fault(_ problem: String) -> JSONFault { JSONFault(offset: index, problem: problem) }

  private func unexpected() -> JSONFault {
    guard let next else { return fault("the text ends too early") }
    let isPlain = next > 0x20 && next < 0x7F
    return fault(isPlain ? "'\(Character(Unicode.Scalar(next)))' cannot stand here" : "byte \(next) cannot stand here")
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(JSONFault) {
    guard next == UInt8(ascii: character) else { throw unexpected() }
    index += 1
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func word(_ word: StaticString, _ value: JSONTree) throws(JSONFault) -> JSONTree {
    for offset in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[offset] else { throw unexpected() }
      index += 1
    }
    return value
  }

  private mutating func value(depth: Int) throws(JSONFault) -> JSONTree {
    guard depth <= JSONReader.maximumDepth else { throw fault("deeper than \(JSONReader.maximumDepth) levels") }
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .text(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case .some(let byte) where byte == UInt8(ascii: "-") || JSONReader.isDigit(byte): return try number()
    default: throw unexpected()
    }
  }

  private mutating func object(depth: Int) throws(JSONFault) -> JSONTree {
    index += 1
    var members: [JSONTree.Member] = []
    var names: Set<String> = []
    skipSpace()
    if take("}") { return .object([]) }
    while true {
      skipSpace()
      let start = index
      let name = try string()
      guard names.insert(name).inserted else {
        throw JSONFault(offset: start, problem: "the member \(name) stands here a second time")
      }
      skipSpace()
      try expect(":")
      members.append(JSONTree.Member(name, try value(depth: depth + 1)))
      skipSpace()
      if take("}") { return .object(members) }
      try expect(",")
    }
  }

  private mutating func array(depth: Int) throws(JSONFault) -> JSONTree {
    index += 1
    var values: [JSONTree] = []
    skipSpace()
    if take("]") { return .array([]) }
    while true {
      values.append(try value(depth: depth + 1))
      skipSpace()
      if take("]") { return .array(values) }
      try expect(",")
    }
  }

  private mutating func string() throws(JSONFault) -> String {
    try expect("\"")
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        index += 1
        try escape(into: &text)
      case 0..<0x20: throw fault("a control character must be escaped")
      default:
        text.append(byte)
        index += 1
      }
    }
    throw unexpected()
  }

  private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
    guard let byte = next else { throw unexpected() }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"):
      index += 1
      let start = index
      var code = try hexadecimal()
      if (0xD800..<0xDC00).contains(code), take("\\") {
        try expect("u")
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else { throw JSONFault(offset: start, problem: "half a surrogate pair") }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(code) else { throw JSONFault(offset: start, problem: "half a surrogate pair") }
      text += String(Character(scalar)).utf8
      return
    default: throw unexpected()
    }
    index += 1
  }

  private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw unexpected() }
      code = code << 4 | UInt32(digit)
      index += 1
    }
    return code
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private mutating func digits() throws(JSONFault) {
    guard let first = next, JSONReader.isDigit(first) else { throw unexpected() }
    while let byte = next, JSONReader.isDigit(byte) { index += 1 }
  }

  private mutating func number() throws(JSONFault) -> JSONTree {
    let start = index
    _ = take("-")
    if !take("0") { try digits() }
    var isWhole = true
    if take(".") {
      isWhole = false
      try digits()
    }
    if take("e") || take("E") {
      isWhole = false
      if !take("+") { _ = take("-") }
      try digits()
    }
    let text = String(decoding: bytes[start..<index], as: UTF8.self)
    if isWhole, let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else {
      throw JSONFault(offset: start, problem: "the number is too large")
    }
    return .number(value)
  }
}
