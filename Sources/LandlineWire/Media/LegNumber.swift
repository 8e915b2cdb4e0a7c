package import CallModel

/// A leg of a shard: the slot of its call, and which of the bridge's legs it is.
package struct LegNumber: Hashable, Sendable {
  private let rawValue: Int32

  private init(rawValue: Int32) { self.rawValue = rawValue }

  /// `slot`: below 2^23.
  package init(_ slot: Int32, _ leg: LegID) { rawValue = slot << 8 | Int32(leg.number) }

  package static let none = LegNumber(rawValue: -1)

  package var slot: Int32 { rawValue >> 8 }
  package var id: LegID { LegID(UInt8(truncatingIfNeeded: rawValue)) }
}
