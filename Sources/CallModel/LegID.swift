/// Which leg of a call: its small number, in the order in which the legs joined the call.
public struct LegID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// 0 for ``near``, 1 for ``far``, 2 and up for those that joined later.
  public let number: UInt8

  /// Any number is accepted; 0 is ``near``, 1 is ``far``.
  public init(_ number: UInt8) { self.number = number }

  /// Of whoever calls: an app, or the first of two destinations.
  public static let near = LegID(0)
  /// Of whoever is called.
  public static let far = LegID(1)

  /// `near`, `far`, then `leg 2` and so on: as records, stories and pages name it.
  public var description: String {
    switch self {
    case .near: "near"
    case .far: "far"
    default: "leg \(number)"
    }
  }

  /// Reads what ``description`` writes; `nil` for any other text.
  public init?(_ text: String) {
    switch text {
    case "near": self = .near
    case "far": self = .far
    default:
      guard text.hasPrefix("leg "), let number = UInt8(text.dropFirst(4)), number > 1 else { return nil }
      self.init(number)
    }
  }

  /// By the order in which the legs joined.
  public static func < (first: LegID, second: LegID) -> Bool { first.number < second.number }
}

/// As its ``description``: `"near"`, `"far"`, `"leg 2"`.
extension LegID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let leg = LegID(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" names no leg of a call")
    }
    self = leg
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
