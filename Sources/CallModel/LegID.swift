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

  /// By the order in which the legs joined.
  public static func < (first: LegID, second: LegID) -> Bool { first.number < second.number }
}
