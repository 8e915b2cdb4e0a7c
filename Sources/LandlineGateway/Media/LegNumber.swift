package import MediaCore

/// A leg of a shard: the slot of its call, and which side of the bridge it is.
package struct LegNumber: Hashable, Sendable {
  private let rawValue: Int32

  private init(rawValue: Int32) { self.rawValue = rawValue }

  package init(_ slot: Int32, _ side: BridgeSide) { rawValue = slot << 1 | (side == .right ? 1 : 0) }

  package static let none = LegNumber(rawValue: -1)

  package var slot: Int32 { rawValue >> 1 }
  package var side: BridgeSide { rawValue & 1 == 0 ? .left : .right }
}
