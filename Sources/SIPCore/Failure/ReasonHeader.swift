public import CallModel

/// The Reason header (RFC 3326): why a request was sent or a call refused, as the other side tells it.
///
/// A Q.850 cause may have a location (RFC 8606). Parameters other than `cause`, `text` and `location` are read and let
/// go. A cause that is no number or out of its protocol's range leaves the value without a cause.
public struct ReasonHeader: Hashable, Sendable {
  /// Most bytes of one field value.
  public static let maximumBytes = 2048
  /// Most values of one message.
  public static let maximumReasons = CallFailure.maximumReasons
  /// Most parameters of one value.
  public static let maximumParameters = 16

  /// In the order of the message, at most ``maximumReasons``.
  public let reasons: [CallFailure.Reason]

  /// Keeps the first ``maximumReasons``.
  public init(_ reasons: [CallFailure.Reason]) {
    self.reasons = Array(reasons.prefix(ReasonHeader.maximumReasons))
  }

  /// Reads one field value, unfolded, without the header's name.
  /// - Throws: `InvalidValue` with rules `reason.long`, `reason.many`, `reason.protocol`, `reason.parameter`,
  ///   `reason.repeated`, `reason.quote`, `reason.character`, `reason.end`.
  public init(parsing value: some StringProtocol) throws(InvalidValue) {
    let (reasons, fault) = ReasonHeader.read(value)
    if let fault { throw fault }
    self.init(reasons)
  }

  /// All that can be read of a message's Reason headers, in order. A value that breaks the syntax ends its own line;
  /// the others stand: a message never fails for its Reason.
  public init(fields: some Sequence<String>) {
    var reasons: [CallFailure.Reason] = []
    for field in fields {
      guard reasons.count < ReasonHeader.maximumReasons else { break }
      reasons += ReasonHeader.read(field).reasons
    }
    self.init(reasons)
  }

  /// The values before the first fault, and the fault.
  private static func read(_ value: some StringProtocol) -> (reasons: [CallFailure.Reason], fault: InvalidValue?) {
    var reasons: [CallFailure.Reason] = []
    do throws(InvalidValue) {
      var reader = try FieldValueReader(
        value, kind: "Reason header", rule: "reason", accepted: "a protocol and its cause, such as Q.850;cause=16",
        maximumBytes: maximumBytes)
      reader.skipSpace()
      repeat {
        guard reasons.count < maximumReasons else {
          throw reader.invalid("many", "more than \(maximumReasons) reasons")
        }
        reasons.append(try reason(&reader))
      } while reader.consumeSeparator(",")
      reader.skipSpace()
      guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after a reason") }
      return (reasons, nil)
    } catch {
      return (reasons, error)
    }
  }

  private static func reason(_ reader: inout FieldValueReader) throws(InvalidValue) -> CallFailure.Reason {
    let protocolName = reader.token()
    guard !protocolName.isEmpty else {
      throw reader.invalid("protocol", "\(reader.nextName) stands where a protocol's name begins")
    }
    var cause: Int?
    var text: String?
    var location: CallFailure.Reason.Location?
    var names: Set<String> = []
    var place = reader.offset
    while let (name, value) = try reader.parameter() {
      guard names.count < maximumParameters else {
        throw reader.invalid("many", "more than \(maximumParameters) parameters", at: place)
      }
      let lowercased = name.lowercased()
      guard names.insert(lowercased).inserted else {
        throw reader.invalid("repeated", "a reason has the same parameter twice", at: place)
      }
      switch lowercased {
      case "cause": cause = value.flatMap { FieldValueReader.number($0, through: 999) }
      case "text": text = value
      case "location": location = value.flatMap { CallFailure.Reason.Location(rawValue: $0.uppercased()) }
      default: break
      }
      place = reader.offset
    }
    return CallFailure.Reason(protocolName: protocolName, cause: cause, text: text, location: location)
  }
}

extension ReasonHeader {
  /// The field value that says the same; `nil` where nothing can be said. A reason whose protocol is no token is left
  /// out, because no message can hold it.
  public var fieldValue: String? {
    let values = reasons.filter { reason in
      !reason.protocolName.isEmpty && reason.protocolName.utf8.allSatisfy(MessageCharacter.isToken)
    }.map { reason in
      var value = reason.protocolName
      if let cause = reason.cause { value += ";cause=\(cause)" }
      if let text = reason.text {
        value += ";text=\"\(ReasonHeader.escaped(text))\""
      }
      if let location = reason.location { value += ";location=\(location.rawValue)" }
      return value
    }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// By scalars: a quote with a combining mark after it is another character than a quote.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { result.append("\\") }
      result.append(scalar)
    }
    return String(result)
  }
}
