public import CallModel

/// How long a session lives without a refresh, and who refreshes it (RFC 4028 section 4).
public struct SessionExpires: Hashable, Sendable {
  /// Which end refreshes, by its part in this one request and its response.
  public enum Refresher: String, Hashable, Sendable {
    /// The end that sent the request.
    case uac
    /// The end that answers it.
    case uas
  }

  /// As written, even where it is under the 90 that RFC 4028 section 4 sets as least.
  public let seconds: UInt32
  /// `nil` while it is not settled.
  public let refresher: Refresher?

  public init(seconds: UInt32, refresher: Refresher? = nil) {
    self.seconds = seconds
    self.refresher = refresher
  }

  /// - Throws: `InvalidValue` with rules `sessionExpires.long`, `sessionExpires.seconds`, `sessionExpires.refresher`,
  ///   `sessionExpires.parameter`, `sessionExpires.end`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      text, kind: "Session-Expires header", rule: "sessionExpires",
      accepted: "seconds and, where it is settled, the refresher, such as 1800;refresher=uac", maximumBytes: 1024)
    let (seconds, parameters) = try FieldNumber.seconds(&reader)
    var refresher: Refresher?
    for (name, value) in parameters where name == "refresher" {
      guard refresher == nil, let value, let known = Refresher(rawValue: value.lowercased()) else {
        throw reader.invalid("refresher", "the refresher is neither uac nor uas, or stands twice")
      }
      refresher = known
    }
    self.init(seconds: seconds, refresher: refresher)
  }

  /// The seconds and, where it is settled, the refresher: `1800;refresher=uac`.
  public var fieldValue: String { "\(seconds)" + (refresher.map { ";refresher=\($0.rawValue)" } ?? "") }
}

/// The least session interval that somebody on the way takes (RFC 4028 section 5).
public struct MinSE: Hashable, Sendable {
  /// As written, even where it is under the 90 that RFC 4028 section 5 sets as least.
  public let seconds: UInt32

  public init(seconds: UInt32) { self.seconds = seconds }

  /// - Throws: `InvalidValue` with rules `minSE.long`, `minSE.seconds`, `minSE.parameter`, `minSE.end`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      text, kind: "Min-SE header", rule: "minSE", accepted: "seconds, such as 90", maximumBytes: 1024)
    self.init(seconds: try FieldNumber.seconds(&reader).seconds)
  }

  /// The seconds alone: `90`.
  public var fieldValue: String { "\(seconds)" }
}

extension FieldNumber {
  /// Seconds with parameters, up to the end.
  static func seconds(
    _ reader: inout FieldValueReader
  ) throws(InvalidValue) -> (seconds: UInt32, parameters: [(name: String, value: String?)]) {
    reader.skipSpace()
    let start = reader.offset
    guard let number = reader.number(through: Int(UInt32.max)) else {
      throw reader.invalid("seconds", "a number of seconds up to \(UInt32.max) comes first", at: start)
    }
    var parameters: [(name: String, value: String?)] = []
    while let (name, value) = try reader.parameter() { parameters.append((name.lowercased(), value)) }
    reader.skipSpace()
    guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after the value") }
    return (UInt32(truncatingIfNeeded: number), parameters)
  }
}
