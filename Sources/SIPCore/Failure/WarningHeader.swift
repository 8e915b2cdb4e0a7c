public import CallModel

/// The Warning header (RFC 3261 section 20.43): what about the session description or the request was not acceptable.
public struct WarningHeader: Hashable, Sendable {
  /// One warning.
  public struct Value: Hashable, Sendable {
    /// 100 to 999.
    public let code: Int
    /// Who warns: a host with its port, or a made-up name.
    public let agent: String
    /// Cut and cleaned as the texts of a `CallFailure`.
    public let text: String

    /// What the code says by itself; `nil` for one that is not in ``WarningHeader/meanings``.
    public var meaning: String? { WarningHeader.meanings[code] }
  }

  /// Most bytes of one field value.
  public static let maximumBytes = 2048
  /// Most warnings of one message.
  public static let maximumValues = 4

  /// The codes of RFC 3261 section 20.43 and of RFC 5630 (SIPS).
  public static let meanings: [Int: String] = [
    300: "a network protocol of the description is not available",
    301: "a network address format of the description is not available",
    302: "a transport protocol of the description is not available",
    303: "a bandwidth unit of the description is not understood",
    304: "a media type of the description is not available",
    305: "a media format of the description is not available",
    306: "a media attribute of the description is not supported",
    307: "a parameter of the description is not understood",
    330: "multicast is not supported where the user is",
    331: "unicast is not supported where the user is",
    370: "the bandwidth asked for is more than there is",
    380: "SIPS is not allowed",
    381: "SIPS is required",
    399: "any other warning; the text says it",
  ]

  /// In the order of the message, at most ``maximumValues``.
  public let values: [Value]

  private init(_ values: [Value]) { self.values = Array(values.prefix(WarningHeader.maximumValues)) }

  /// Reads one field value, unfolded, without the header's name.
  /// - Throws: `InvalidValue` with rules `warning.long`, `warning.many`, `warning.code`, `warning.space`, `warning.agent`,
  ///   `warning.quote`, `warning.character`, `warning.end`.
  public init(parsing value: some StringProtocol) throws(InvalidValue) {
    let (values, fault) = WarningHeader.read(value)
    if let fault { throw fault }
    self.init(values)
  }

  /// All that can be read of a message's Warning headers: a value that breaks the syntax ends its own line.
  public init(fields: some Sequence<String>) {
    var values: [Value] = []
    for field in fields {
      guard values.count < WarningHeader.maximumValues else { break }
      values += WarningHeader.read(field).values
    }
    self.init(values)
  }

  /// `304 Media type not available; 399 …`: what `CallFailure.warning` keeps. `nil` without warnings.
  public var summary: String? {
    values.isEmpty ? nil : values.map { "\($0.code) \($0.text)" }.joined(separator: "; ")
  }

  /// The values before the first fault, and the fault.
  private static func read(_ value: some StringProtocol) -> (values: [Value], fault: InvalidValue?) {
    var values: [Value] = []
    do throws(InvalidValue) {
      var reader = try FieldValueReader(
        value, kind: "Warning header", rule: "warning",
        accepted: "a code of three digits, a host and a quoted text, such as 304 gw.example.com \"No video\"",
        maximumBytes: maximumBytes)
      reader.skipSpace()
      repeat {
        guard values.count < maximumValues else { throw reader.invalid("many", "more than \(maximumValues) warnings") }
        values.append(try warning(&reader))
      } while reader.consumeSeparator(",")
      reader.skipSpace()
      guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after a warning") }
      return (values, nil)
    } catch {
      return (values, error)
    }
  }

  private static func warning(_ reader: inout FieldValueReader) throws(InvalidValue) -> Value {
    let start = reader.offset
    guard let code = reader.number(through: 999), reader.offset - start == 3, code >= 100 else {
      throw reader.invalid("code", "a warning begins with three digits from 100 on", at: start)
    }
    let afterCode = reader.offset
    reader.skipSpace()
    guard reader.offset > afterCode || reader.isAtEnd else {
      throw reader.invalid("space", "\(reader.nextName) stands right after the code")
    }
    let agent = reader.run { byte in
      byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: ",")
    }
    guard !agent.isEmpty else {
      throw reader.invalid("agent", "\(reader.nextName) stands where the warning's agent begins")
    }
    reader.skipSpace()
    return Value(
      code: code, agent: CallFailure.shortened(agent), text: CallFailure.shortened(try reader.quotedString()))
  }
}
