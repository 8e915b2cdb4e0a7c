import CallModel

/// The list of parameters of a field, read by RFC 3261 section 25.1, each name at most once.
///
/// Lenient where peers are known to stray and nothing is ambiguous: any parameter may be quoted or, if it is a token,
/// not; empty list elements are passed over. A value holds neither control characters nor line ends.
struct DigestParameters {
  /// Which field is read, for messages: `digest challenge`.
  private let kind: String
  private var remaining: [DigestParameter] = []

  /// - Parameter scheme: The word that must stand first, compared without regard to case; `nil` for a field without.
  init(
    parsing bytes: some Collection<UInt8>, kind: String, scheme: String?, limits: DigestLimits
  ) throws(InvalidValue) {
    self.kind = kind
    guard bytes.count <= limits.fieldBytes else {
      throw DigestParameters.refusal(
        kind, "long", limits.fieldBytes, "the field has more than \(limits.fieldBytes) bytes")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw DigestParameters.refusal(kind, "utf8", nil, "the field is not UTF-8")
    }
    var reader = Reader(bytes: Array(bytes), kind: kind, limits: limits)
    reader.skipSpace()
    if let scheme {
      let word = reader.token()
      guard word.lowercased() == scheme.lowercased() else {
        throw DigestParameters.refusal(kind, "scheme", 0, "the scheme is not \(scheme)")
      }
      guard reader.index == reader.bytes.count || reader.skipSpace() else {
        throw DigestParameters.refusal(kind, "scheme", reader.index, "no space follows the scheme")
      }
    }
    var names: Set<String> = []
    var elements = 0
    while reader.index < reader.bytes.count {
      elements += 1
      guard elements <= limits.parameters else {
        throw reader.refusal("parameters", "there are more than \(limits.parameters) parameters")
      }
      if !reader.skip(",") {
        let start = reader.index
        let parameter = try reader.parameter()
        guard names.insert(parameter.name).inserted else {
          throw DigestParameters.refusal(kind, "duplicate", start, "a parameter stands twice")
        }
        remaining.append(parameter)
        reader.skipSpace()
        guard reader.index == reader.bytes.count || reader.skip(",") else {
          throw reader.refusal("separator", "\(reader.here) stands where a comma belongs")
        }
      }
      reader.skipSpace()
    }
  }

  /// Takes a parameter out of the list.
  mutating func extract(_ name: String) -> String? {
    guard let index = remaining.firstIndex(where: { $0.name == name }) else { return nil }
    return remaining.remove(at: index).value
  }

  /// - Throws: ``InvalidValue`` with rule `digest.missing`.
  mutating func require(_ name: String) throws(InvalidValue) -> String {
    guard let value = extract(name) else { throw refusal("missing", "the parameter \(name) is missing") }
    return value
  }

  /// A value that must be a token, as it is printed without quotes.
  mutating func extractToken(_ name: String) throws(InvalidValue) -> String? {
    guard let value = extract(name) else { return nil }
    guard !value.isEmpty, value.utf8.allSatisfy(MessageCharacter.isToken) else {
      throw refusal(name, "the value of \(name) is not a token")
    }
    return value
  }

  /// The eight hexadecimal digits of `nc`.
  mutating func extractNonceCount() throws(InvalidValue) -> UInt32? {
    guard let value = extract("nc") else { return nil }
    guard value.utf8.count == 8, let bytes = Hexadecimal.bytes(value) else {
      throw refusal("nc", "nc is not eight hexadecimal digits")
    }
    return bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// What was not extracted, in the order written.
  var others: [DigestParameter] { remaining }

  func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    DigestParameters.refusal(kind, rule, nil, problem)
  }

  private static func refusal(_ kind: String, _ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: kind, rule: "digest.\(rule)", offset: offset, problem: problem,
      accepted: "parameters name=token or name=\"text\" with commas between, each name once (RFC 3261 section 25.1)")
  }

  static func print(_ scheme: String?, _ parameters: [DigestParameter]) -> String {
    (scheme.map { "\($0) " } ?? "") + parameters.map(\.text).joined(separator: ", ")
  }

  private struct Reader {
    let bytes: [UInt8]
    let kind: String
    let limits: DigestLimits
    var index = 0

    init(bytes: [UInt8], kind: String, limits: DigestLimits) {
      self.bytes = bytes
      self.kind = kind
      self.limits = limits
    }

    /// The byte at hand for a message.
    var here: String { index < bytes.count ? InvalidValue.name(of: bytes[index]) : "the end" }

    func refusal(_ rule: String, _ problem: String) -> InvalidValue {
      DigestParameters.refusal(kind, rule, index, problem)
    }

    /// Passes over spaces, tabs and folded line ends.
    @discardableResult mutating func skipSpace() -> Bool {
      let start = index
      while index < bytes.count {
        if bytes[index] == 0x20 || bytes[index] == 0x09 {
          index += 1
        } else if index + 2 < bytes.count, bytes[index] == 0x0D, bytes[index + 1] == 0x0A,
          bytes[index + 2] == 0x20 || bytes[index + 2] == 0x09
        {
          index += 3
        } else {
          break
        }
      }
      return index > start
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
      return true
    }

    mutating func token() -> String {
      let start = index
      while index < bytes.count, MessageCharacter.isToken(bytes[index]) { index += 1 }
      return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    mutating func parameter() throws(InvalidValue) -> DigestParameter {
      let start = index
      let name = token()
      guard !name.isEmpty else { throw refusal("name", "\(here) stands where a parameter name belongs") }
      guard name.utf8.count <= limits.parameterBytes else {
        throw DigestParameters.refusal(
          kind, "parameterLong", start + limits.parameterBytes,
          "a parameter name has more than \(limits.parameterBytes) bytes")
      }
      skipSpace()
      guard skip("=") else { throw refusal("equals", "\(here) stands where '=' belongs") }
      skipSpace()
      let valueStart = index
      let isQuoted = skip("\"")
      let value = isQuoted ? try quotedText() : token()
      guard index - valueStart <= limits.parameterBytes else {
        throw DigestParameters.refusal(
          kind, "parameterLong", valueStart + limits.parameterBytes,
          "a parameter value has more than \(limits.parameterBytes) bytes")
      }
      guard isQuoted || !value.isEmpty else { throw refusal("value", "\(here) stands where a value belongs") }
      return DigestParameter(name: name.lowercased(), value: value, isQuoted: isQuoted)
    }

    /// The rest of a quoted-string, behind its first quote.
    private mutating func quotedText() throws(InvalidValue) -> String {
      var text: [UInt8] = []
      while index < bytes.count {
        var byte = bytes[index]
        if byte == UInt8(ascii: "\"") {
          index += 1
          return String(decoding: text, as: UTF8.self)
        }
        if byte == UInt8(ascii: "\\") {
          index += 1
          guard index < bytes.count, bytes[index] < 0x80 else {
            throw refusal("escape", "\(here) cannot be escaped")
          }
          byte = bytes[index]
        }
        guard byte == 0x09 || byte >= 0x20, byte != 0x7F else {
          throw refusal("control", "\(here) cannot stand in a quoted text")
        }
        text.append(byte)
        index += 1
      }
      throw refusal("quote", "the closing quote is missing")
    }
  }
}
