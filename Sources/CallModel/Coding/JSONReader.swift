/// Reads one JSON text (RFC 8259) in one pass, with limits on all that a sender could make large. No name stands twice in an
/// object, and the first byte that is wrong is named.
package struct JSONReader {
  /// What is bounded.
  package struct Limits: Hashable, Sendable {
    package var bytes: Int
    /// Objects and arrays in each other.
    package var depth: Int
    /// Members of one object.
    package var members = 1024
    /// Elements of one array.
    package var elements = 1024
    /// Values in the whole text.
    package var values = 4096
    package init(bytes: Int, depth: Int) {
      self.bytes = bytes
      self.depth = depth
    }

    /// For texts of our own, which nobody made large: only the stack is kept from them.
    package static let own = {
      var limits = Limits(bytes: .max, depth: 64)
      limits.members = .max
      limits.elements = .max
      limits.values = .max
      return limits
    }()
  }

  /// Longest text of a number.
  package static let maximumNumberBytes = 64

  /// Members among which a name is looked for one by one; more are kept in a set.
  private static let fewMembers = 16

  private let bytes: UnsafeBufferPointer<UInt8>
  private let limits: Limits
  private var index = 0
  private var valueCount = 0

  /// - Throws: ``JSONProblem`` with the place of the first byte that is wrong.
  package static func read(_ bytes: [UInt8], _ limits: Limits) throws(JSONProblem) -> JSONValue {
    guard bytes.count <= limits.bytes else {
      throw JSONProblem(kind: .tooLong, offset: limits.bytes, problem: "more than \(limits.bytes) bytes")
    }
    guard isUTF8(bytes) else {
      throw JSONProblem(kind: .notUTF8, offset: firstInvalid(bytes), problem: "not UTF-8")
    }
    let result: Result<JSONValue, JSONProblem> = bytes.withUnsafeBufferPointer { buffer in
      Result { () throws(JSONProblem) in
        var reader = JSONReader(bytes: buffer, limits: limits)
        return try reader.whole()
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, limits: Limits) {
    self.bytes = bytes
    self.limits = limits
  }

  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
  }

  /// The offset of the first byte that spoils the text's UTF-8.
  private static func firstInvalid(_ bytes: [UInt8]) -> Int {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var good = 0
    while case .scalarValue(let scalar) = decoder.decode(&iterator) { good += UTF8.width(scalar) }
    return min(good, bytes.count)
  }

  private func problem(_ problem: String, _ kind: JSONProblem.Kind = .syntax) -> JSONProblem {
    JSONProblem(kind: kind, offset: index, problem: problem)
  }

  private mutating func whole() throws(JSONProblem) -> JSONValue {
    let value = try value(depth: 0)
    skipBlanks()
    guard index == bytes.count else { throw problem("something follows the value") }
    return value
  }

  private mutating func skipBlanks() {
    while index < bytes.count {
      switch bytes[index] {
      case 0x20, 0x09, 0x0A, 0x0D: index += 1
      default: return
      }
    }
  }

  /// The next byte after blanks; 0, which is none of JSON's, at the end.
  private mutating func next() -> UInt8 {
    skipBlanks()
    return index < bytes.count ? bytes[index] : 0
  }

  private mutating func value(depth: Int) throws(JSONProblem) -> JSONValue {
    valueCount += 1
    guard valueCount <= limits.values else { throw problem("more than \(limits.values) values", .tooMany) }
    switch next() {
    case UInt8(ascii: "{"): return try .object(object(depth: depth + 1))
    case UInt8(ascii: "["): return try .array(array(depth: depth + 1))
    case UInt8(ascii: "\""): return try .string(string())
    case UInt8(ascii: "t"): return try literal("true", .boolean(true))
    case UInt8(ascii: "f"): return try literal("false", .boolean(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw problem(index < bytes.count ? "no JSON value begins here" : "the text ends too early")
    }
  }

  private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONProblem) -> JSONValue {
    for offset in 0..<text.utf8CodeUnitCount {
      guard index < bytes.count else { throw problem("the text ends too early") }
      guard bytes[index] == text.utf8Start[offset] else { throw problem("no JSON value begins here") }
      index += 1
    }
    return value
  }

  private func check(depth: Int) throws(JSONProblem) {
    guard depth <= limits.depth else { throw problem("nested deeper than \(limits.depth)", .tooDeep) }
  }

  private mutating func object(depth: Int) throws(JSONProblem) -> JSONObject {
    try check(depth: depth)
    index += 1
    var object = JSONObject()
    var names: Set<String> = []
    if next() == UInt8(ascii: "}") {
      index += 1
      return object
    }
    while true {
      guard next() == UInt8(ascii: "\"") else {
        throw problem(index < bytes.count ? "a member's name in quotes is missing" : "the text ends too early")
      }
      guard object.members.count < limits.members else {
        throw problem("more than \(limits.members) members", .tooMany)
      }
      let start = index
      let name = try string()
      guard next() == UInt8(ascii: ":") else { throw problem("a colon is missing") }
      index += 1
      // Names that differ in normalisation only are equal to `String`; either way only one of them gets in.
      let isTaken: Bool
      if object.members.count < JSONReader.fewMembers {
        isTaken = object[name] != nil
      } else {
        if names.isEmpty { names = Set(object.members.map(\.name)) }
        isTaken = !names.insert(name).inserted
      }
      guard !isTaken else {
        index = start
        throw problem("a member stands twice", .duplicate(name))
      }
      object.append(name, try value(depth: depth))
      switch next() {
      case UInt8(ascii: ","): index += 1
      case UInt8(ascii: "}"):
        index += 1
        return object
      default: throw problem("a comma or a closing brace is missing")
      }
    }
  }

  private mutating func array(depth: Int) throws(JSONProblem) -> [JSONValue] {
    try check(depth: depth)
    index += 1
    var values: [JSONValue] = []
    if next() == UInt8(ascii: "]") {
      index += 1
      return values
    }
    while true {
      guard values.count < limits.elements else { throw problem("more than \(limits.elements) elements", .tooMany) }
      values.append(try value(depth: depth))
      switch next() {
      case UInt8(ascii: ","): index += 1
      case UInt8(ascii: "]"):
        index += 1
        return values
      default: throw problem("a comma or a closing bracket is missing")
      }
    }
  }

  private mutating func string() throws(JSONProblem) -> String {
    index += 1
    let start = index
    // Most strings have no escapes: they are taken as they stand.
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        defer { index += 1 }
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
      }
      if byte == UInt8(ascii: "\\") { break }
      guard byte >= 0x20 else { throw problem("a control character stands in a string") }
      index += 1
    }
    var text = Array(bytes[start..<index])
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "\""):
        index += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(&text)
      case 0..<0x20: throw problem("a control character stands in a string")
      default:
        let start = index
        while index < bytes.count, bytes[index] >= 0x20, bytes[index] != UInt8(ascii: "\""),
          bytes[index] != UInt8(ascii: "\\")
        {
          index += 1
        }
        text.append(contentsOf: bytes[start..<index])
      }
    }
    throw problem("a string is not closed")
  }

  private mutating func escape(_ text: inout [UInt8]) throws(JSONProblem) {
    guard index + 1 < bytes.count else {
      index = bytes.count
      throw problem("a string is not closed")
    }
    let letter = bytes[index + 1]
    let plain: UInt8
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): plain = letter
    case UInt8(ascii: "n"): plain = 0x0A
    case UInt8(ascii: "r"): plain = 0x0D
    case UInt8(ascii: "t"): plain = 0x09
    case UInt8(ascii: "b"): plain = 0x08
    case UInt8(ascii: "f"): plain = 0x0C
    case UInt8(ascii: "u"):
      let scalar = try escapedScalar()
      text.append(contentsOf: String(Character(scalar)).utf8)
      return
    default:
      index += 1
      throw problem("no such escape")
    }
    text.append(plain)
    index += 2
  }

  /// `\uXXXX`, or two of them for a character beyond the first 65,536.
  private mutating func escapedScalar() throws(JSONProblem) -> Unicode.Scalar {
    let start = index + 2
    let first = try escapedUnit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    if first < 0xDC00, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
      bytes[index + 1] == UInt8(ascii: "u")
    {
      let second = try escapedUnit()
      if (0xDC00..<0xE000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
      {
        return scalar
      }
    }
    index = start
    throw problem("half of a surrogate pair")
  }

  private mutating func escapedUnit() throws(JSONProblem) -> UInt16 {
    index += 2
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard index < bytes.count else { throw problem("the text ends too early") }
      let digit: UInt8
      switch bytes[index] {
      case let byte where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case let byte where byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f"):
        digit = (byte | 0x20) - UInt8(ascii: "a") + 10
      default: throw problem("four hexadecimal digits are missing")
      }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }

  private mutating func digits() -> Int {
    let start = index
    while index < bytes.count, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") { index += 1 }
    return index - start
  }

  private mutating func number() throws(JSONProblem) -> JSONValue {
    let start = index
    var isInteger = true
    if bytes[index] == UInt8(ascii: "-") { index += 1 }
    let first = index
    let count = digits()
    if count > 1, bytes[first] == UInt8(ascii: "0") { index = first + 1 }
    guard count > 0, index == first + count else { throw problem("a number is not written as JSON writes it") }
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      isInteger = false
      index += 1
      guard digits() > 0 else { throw problem("a number is not written as JSON writes it") }
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      index += 1
      if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      guard digits() > 0 else { throw problem("a number is not written as JSON writes it") }
    }
    guard index - start <= JSONReader.maximumNumberBytes else {
      index = start
      throw problem("a number is too long")
    }
    let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<index]), as: UTF8.self)
    if isInteger, let integer = Int64(text) { return .integer(integer) }
    guard let number = Double(text), number.isFinite else {
      index = start
      throw problem("a number is out of range")
    }
    return .number(number)
  }
}
