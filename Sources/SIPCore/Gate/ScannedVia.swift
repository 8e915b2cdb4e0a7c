/// One element of the Via list (RFC 3261 section 20.42).
public struct ScannedVia: Hashable, Sendable {
  /// Where the element stands in ``ScannedMessage/bytes``, without the commas and white space around it.
  public let range: Range<Int>
  /// `2.0`; another one is malformed, and still goes back in a response as it came.
  let version: String
  /// `UDP`, `TCP`, `TLS`, `SCTP` or any token, as written.
  public let transport: String
  /// Host as written; IPv6 with its brackets.
  public let host: String
  /// `nil` where none is written, or no number of 1 to 65535.
  public let port: UInt16?
  /// `nil` where it is absent or has no value.
  public let branch: String?
  /// Whether `rport` stands there, with or without a value (RFC 3581).
  public let wantsResponsePort: Bool
  /// Whether every byte of the element follows the grammar; transport and host are readable in any case.
  public let isWellFormed: Bool
  /// Parameters other than `received` and `rport`, each from its name to the end of its value.
  let parameters: [Range<Int>]

  /// Reads the element at the cursor, which then stands behind it.
  /// - Returns: `nil` when transport or sent-by cannot be read.
  init?(_ cursor: inout ValueCursor) {
    let start = cursor.position
    let name = cursor.run(while: MessageCharacter.isToken)
    guard cursor.equals(name, "sip"), cursor.consume(UInt8(ascii: "/")) else { return nil }
    let version = cursor.run(while: MessageCharacter.isToken)
    guard !version.isEmpty, cursor.consume(UInt8(ascii: "/")) else { return nil }
    let transport = cursor.run(while: MessageCharacter.isToken)
    guard !transport.isEmpty, let blank = cursor.peek, MessageCharacter.isBlank(blank) else { return nil }
    cursor.skipBlanks()
    guard let host = ScannedHost.host(&cursor) else { return nil }
    var isWellFormed = cursor.equals(version, "2.0")
    var port: UInt16?
    if cursor.consume(MessageCharacter.colon) {
      let digits = cursor.run(while: MessageCharacter.isDigit)
      if case .value(let number) = ScannedNumber(cursor.bytes[digits]), number > 0, number <= 65_535 {
        port = UInt16(number)
      } else {
        isWellFormed = false
      }
    }
    var branch: String?
    var wantsResponsePort = false
    var parameters: [Range<Int>] = []
    let reader = cursor
    let areWellFormed = cursor.parameters { name, value in
      if reader.equals(name, "rport") {
        wantsResponsePort = true
      } else if !reader.equals(name, "received") {
        if let value, reader.equals(name, "branch") { branch = String(decoding: reader.bytes[value], as: UTF8.self) }
        parameters.append(name.lowerBound..<(value ?? name).upperBound)
      }
    }
    cursor.skipBlanks()
    isWellFormed = isWellFormed && areWellFormed
    if let next = cursor.peek, next != MessageCharacter.comma { isWellFormed = false }
    range = start..<cursor.position
    self.version = String(decoding: cursor.bytes[version], as: UTF8.self)
    self.transport = String(decoding: cursor.bytes[transport], as: UTF8.self)
    self.host = String(decoding: cursor.bytes[host], as: UTF8.self)
    self.port = port
    self.branch = branch
    self.wantsResponsePort = wantsResponsePort
    self.parameters = parameters
    self.isWellFormed = isWellFormed
  }
}
