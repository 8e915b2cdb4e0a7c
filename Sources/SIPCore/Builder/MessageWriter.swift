import CallModel

/// Writes a message line by line. Each value is checked and escaped by its grammar; each finished line is checked once
/// more against what the gate lets through, whatever wrote it, so that no value can end its line or begin another.
struct MessageWriter {
  /// The limits of our own gate: what leaves could come in.
  private static let limits = GateLimits.standard

  private(set) var bytes: [UInt8] = []
  private var lineStart = 0
  private var lines = 0
  /// Where the user part stands that was written into the line.
  private var user = 0..<0

  init() { bytes.reserveCapacity(1024) }

  static func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "SIP message", rule: "message.\(rule)", offset: nil, problem: problem,
      accepted: "texts without control bytes, tokens where SIP wants tokens, and lines of at most \(limits.lineBytes) "
        + "bytes")
  }

  // MARK: Lines

  /// Ends a line after judging its bytes.
  /// - Parameter holdsURI: Whether somebody may unescape the line, so that `%00` is not allowed but in a user part.
  mutating func endLine(_ name: String, holdsURI: Bool = false) throws(InvalidValue) {
    guard bytes.count - lineStart <= MessageWriter.limits.lineBytes else {
      throw MessageWriter.refusal("line", "the line of \(name) has \(bytes.count - lineStart) bytes")
    }
    lines += 1
    // One of the gate's lines is the start line.
    guard lines <= MessageWriter.limits.headerCount else {
      throw MessageWriter.refusal("lines", "more than \(MessageWriter.limits.headerCount) lines")
    }
    var semicolons = 0
    var commas = 0
    for index in lineStart..<bytes.count {
      let byte = bytes[index]
      guard !MessageCharacter.isControl(byte) else {
        throw MessageWriter.refusal("control", "\(InvalidValue.name(of: byte)) would stand in the line of \(name)")
      }
      switch byte {
      case MessageCharacter.semicolon: semicolons += 1
      case MessageCharacter.comma: commas += 1
      case MessageCharacter.percent where holdsURI && index + 2 < bytes.count && !user.contains(index):
        if bytes[index + 1] == MessageCharacter.zero, bytes[index + 2] == MessageCharacter.zero {
          throw MessageWriter.refusal("escapedNUL", "%00 would stand in the line of \(name)")
        }
      default: break
      }
    }
    guard semicolons <= MessageWriter.limits.semicolons, commas <= MessageWriter.limits.commas else {
      throw MessageWriter.refusal(
        "separators", "the line of \(name) has more than \(MessageWriter.limits.semicolons) semicolons or commas")
    }
    bytes.append(MessageCharacter.cr)
    bytes.append(MessageCharacter.lf)
    lineStart = bytes.count
    user = 0..<0
  }

  mutating func raw(_ text: String) { bytes += text.utf8 }
  mutating func raw(_ slice: ArraySlice<UInt8>) { bytes += slice }

  mutating func field(_ name: String, _ value: String) throws(InvalidValue) {
    raw(name)
    raw(": ")
    raw(value)
    try endLine(name)
  }

  mutating func field(_ name: String, copy value: ArraySlice<UInt8>) throws(InvalidValue) {
    raw(name)
    raw(": ")
    raw(value)
    try endLine(name)
  }

  mutating func field(_ name: String, _ addresses: [NameAddress]) throws(InvalidValue) {
    for address in addresses { try field(name, address) }
  }

  mutating func field(_ name: String, _ address: NameAddress) throws(InvalidValue) {
    raw(name)
    raw(": ")
    try write(address)
    try endLine(name, holdsURI: true)
  }

  mutating func field(_ via: Via) throws(InvalidValue) {
    raw("Via: ")
    try write(via)
    try endLine("Via")
  }

  /// The fields of a body, the empty line and the body.
  mutating func finish(_ body: MessageBody?) throws(InvalidValue) -> [UInt8] {
    let content = body.flatMap { $0.bytes.isEmpty ? nil : $0 }
    if let content {
      guard content.bytes.count <= MessageBody.maximumBytes else {
        throw MessageWriter.refusal("body", "the body has \(content.bytes.count) bytes")
      }
      var cursor = ValueCursor(Array(content.contentType.utf8))
      let type = cursor.run(while: MessageCharacter.isToken)
      guard !type.isEmpty, cursor.consume(UInt8(ascii: "/")), !cursor.run(while: MessageCharacter.isToken).isEmpty,
        cursor.parameters({ _, _ in }), cursor.peek == nil
      else { throw MessageWriter.refusal("contentType", "the body's type is not type/subtype") }
      try field("Content-Type", content.contentType)
    }
    try field("Content-Length", String(content?.bytes.count ?? 0))
    bytes.append(MessageCharacter.cr)
    bytes.append(MessageCharacter.lf)
    if let content { bytes += content.bytes }
    guard bytes.count <= MessageWriter.limits.streamBytes else {
      throw MessageWriter.refusal("size", "the message has \(bytes.count) bytes")
    }
    return bytes
  }

  // MARK: Values

  mutating func token(_ text: String, _ what: String) throws(InvalidValue) {
    guard !text.isEmpty, text.utf8.allSatisfy(MessageCharacter.isToken) else {
      throw MessageWriter.refusal("token", "\(what) is no token")
    }
    raw(text)
  }

  /// Any visible ASCII: peers choose Call-IDs beyond the grammar, and they go back as they came.
  mutating func callID(_ text: String) throws(InvalidValue) {
    raw("Call-ID: ")
    let isWord =
      !text.isEmpty
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isWord else { throw MessageWriter.refusal("callID", "the Call-ID is empty or holds a space or control byte") }
    raw(text)
    try endLine("Call-ID")
  }

  mutating func quoted(_ text: String) throws(InvalidValue) {
    bytes.append(MessageCharacter.quote)
    for byte in text.utf8 {
      guard !MessageCharacter.isControl(byte) else {
        throw MessageWriter.refusal("control", "\(InvalidValue.name(of: byte)) stands in a quoted text")
      }
      if byte == MessageCharacter.quote || byte == MessageCharacter.backslash {
        bytes.append(MessageCharacter.backslash)
      }
      bytes.append(byte)
    }
    bytes.append(MessageCharacter.quote)
  }

  mutating func write(_ address: NameAddress) throws(InvalidValue) {
    if let name = address.displayName, !name.isEmpty {
      try quoted(name)
      bytes.append(MessageCharacter.space)
    }
    bytes.append(MessageCharacter.open)
    try write(address.uri)
    bytes.append(MessageCharacter.close)
    try write(address.parameters)
  }

  /// Parameters of a header field: what is no token or host is quoted.
  mutating func write(_ parameters: [SIPParameter]) throws(InvalidValue) {
    for parameter in parameters {
      bytes.append(MessageCharacter.semicolon)
      try token(parameter.name, "the name of a parameter")
      guard let value = parameter.value else { continue }
      bytes.append(MessageCharacter.equals)
      if parameter.name == "tag" || parameter.name == "branch" {
        try token(value, parameter.name)
      } else if MessageWriter.isBare(value) {
        raw(value)
      } else {
        try quoted(value)
      }
    }
  }

  /// Token or address: what needs no quotes.
  private static func isBare(_ value: String) -> Bool {
    !value.isEmpty
      && value.utf8.allSatisfy {
        MessageCharacter.isToken($0) || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]")
          || $0 == MessageCharacter.colon
      }
  }

  mutating func write(_ via: Via) throws(InvalidValue) {
    raw("SIP/2.0/")
    try token(via.transport, "the transport of Via")
    bytes.append(MessageCharacter.space)
    try write(via.host)
    if let port = via.port { try write(port: port) }
    // Quoted values would be allowed, and are misread by some.
    guard via.parameters.allSatisfy({ $0.value.map(MessageWriter.isBare) ?? true }) else {
      throw MessageWriter.refusal("via", "a parameter of Via is no token and no address")
    }
    try write(via.parameters)
  }

  private mutating func write(_ host: SIPHost) throws(InvalidValue) {
    let start = bytes.count
    raw(host.description)
    // A name can be made without its reader.
    guard (try? SIPHost(signalled: bytes[start...])) == host else {
      throw MessageWriter.refusal("host", "the host is no name and no address")
    }
  }

  private mutating func write(port: UInt16) throws(InvalidValue) {
    guard port > 0 else { throw MessageWriter.refusal("port", "port 0 cannot be reached") }
    bytes.append(MessageCharacter.colon)
    raw(String(port))
  }

  mutating func write(_ uri: SIPURI) throws(InvalidValue) {
    if uri.scheme == .other {
      guard let text = uri.user, SIPURI.otherURI(Array(text.utf8)[...]) != nil else {
        throw MessageWriter.refusal("uri", "a URI of another scheme holds bytes that no URI has")
      }
      return raw(text)
    }
    raw(uri.scheme.rawValue)
    bytes.append(MessageCharacter.colon)
    if uri.scheme == .tel {
      try writeNumber(uri)
    } else {
      if let user = uri.user {
        guard !user.isEmpty else { throw MessageWriter.refusal("user", "the user part is empty") }
        let start = bytes.count
        try escaped(user, URICharacter.isUser)
        self.user = start..<bytes.count
        bytes.append(UInt8(ascii: "@"))
      }
      guard let host = uri.host else { throw MessageWriter.refusal("host", "the URI has no host") }
      try write(host)
      if let port = uri.port { try write(port: port) }
    }
    for parameter in uri.parameters {
      bytes.append(MessageCharacter.semicolon)
      try pair(parameter, URICharacter.isParameter)
    }
    for (index, header) in uri.headers.enumerated() {
      guard uri.scheme != .tel else { throw MessageWriter.refusal("header", "a tel URI has no header fields") }
      bytes.append(index == 0 ? UInt8(ascii: "?") : UInt8(ascii: "&"))
      try pair(header, URICharacter.isHeader, mayBeEmpty: true)
    }
  }

  private mutating func writeNumber(_ uri: SIPURI) throws(InvalidValue) {
    let number = Array((uri.user ?? "").utf8)
    let isGlobal = number.first == UInt8(ascii: "+")
    let digits = isGlobal ? number[1...] : number[...]
    guard uri.host == nil, uri.port == nil,
      digits.allSatisfy({ isGlobal ? URICharacter.isGlobalNumber($0) : URICharacter.isLocalNumber($0) }),
      digits.contains(where: { !URICharacter.isVisualSeparator($0) })
    else { throw MessageWriter.refusal("number", "the tel URI has no number, or more than one") }
    raw(number[...])
  }

  private mutating func pair(
    _ parameter: SIPParameter, _ isAllowed: (UInt8) -> Bool, mayBeEmpty: Bool = false
  ) throws(InvalidValue) {
    guard !parameter.name.isEmpty else { throw MessageWriter.refusal("parameter", "a parameter of a URI has no name") }
    try escaped(parameter.name, isAllowed)
    guard let value = parameter.value else { return }
    guard mayBeEmpty || !value.isEmpty else {
      throw MessageWriter.refusal("parameter", "the value of a parameter of a URI is empty")
    }
    bytes.append(MessageCharacter.equals)
    try escaped(value, isAllowed)
  }

  private static let hexadecimal = Array("0123456789ABCDEF".utf8)

  /// Escapes stay as they are, what must be escaped is.
  private mutating func escaped(_ text: String, _ isAllowed: (UInt8) -> Bool) throws(InvalidValue) {
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == MessageCharacter.percent {
        let digits = rest.prefix(2)
        guard digits.count == 2, digits.allSatisfy(MessageCharacter.isHexadecimal) else {
          throw MessageWriter.refusal("escape", "'%' is not followed by two hexadecimal digits")
        }
        bytes.append(byte)
      } else if isAllowed(byte) {
        bytes.append(byte)
      } else {
        guard byte > 0x20 || byte == MessageCharacter.space, byte != 0x7F else {
          throw MessageWriter.refusal("control", "\(InvalidValue.name(of: byte)) stands in a URI")
        }
        bytes.append(MessageCharacter.percent)
        bytes.append(MessageWriter.hexadecimal[Int(byte >> 4)])
        bytes.append(MessageWriter.hexadecimal[Int(byte & 15)])
      }
    }
  }
}
