/// Where the losses of a stream lie: runs of them, and the bursts and gaps of RFC 3611 section 4.7.2.
///
/// Touched only when a packet is missing, so that a packet in order costs nothing.
struct LossPattern: Sendable, Equatable {
  /// Packets received between two losses of one burst are fewer than this (RFC 3611 section 4.7.7, Gmin).
  static let minimumGap: UInt32 = 16

  /// Runs of consecutive lost packets.
  private(set) var events: Int64 = 0

  private(set) var burstLost: UInt64 = 0
  /// Packets from first to last loss of every burst.
  private(set) var burstPackets: UInt64 = 0
  private(set) var bursts: UInt64 = 0
  private(set) var gapLost: UInt64 = 0
  private(set) var gapPackets: UInt64 = 0

  /// The losses that the next one may still join.
  private var openLost: UInt64 = 0
  private var openPackets: UInt64 = 0
  /// Sequence number, extended, from which on packets came without a loss.
  private var receivedFrom: UInt32 = 0

  /// A new run of sequence numbers begins.
  mutating func restart(at sequence: UInt32) {
    close(through: receivedFrom)
    receivedFrom = sequence
  }

  /// `missing` packets are missing just before `sequence`, which is there.
  mutating func lost(_ missing: Int, before sequence: UInt32) {
    guard missing > 0 else { return }
    events += 1
    let firstLost = sequence &- UInt32(missing)
    let between = firstLost &- receivedFrom
    if openLost > 0, between < LossPattern.minimumGap {
      openPackets += UInt64(between)
    } else {
      close(through: firstLost)
    }
    openLost += UInt64(missing)
    openPackets += UInt64(missing)
    receivedFrom = sequence
  }

  /// A missing packet came late. A run that was only this packet is none any more; one that it parts becomes two.
  mutating func filled(olderIsThere: Bool, newerIsThere: Bool) {
    if olderIsThere && newerIsThere { events = max(0, events - 1) }
    if !olderIsThere && !newerIsThere { events += 1 }
  }

  /// A packet that came late was of no use: what ``filled(olderIsThere:newerIsThere:)`` did of it is undone.
  mutating func emptied(olderIsThere: Bool, newerIsThere: Bool) {
    if olderIsThere && newerIsThere { events += 1 }
    if !olderIsThere && !newerIsThere { events = max(0, events - 1) }
  }

  /// The pattern as if the stream ended before `sequence`.
  func closed(through sequence: UInt32) -> LossPattern {
    var copy = self
    copy.close(through: sequence)
    copy.receivedFrom = sequence
    return copy
  }

  private mutating func close(through sequence: UInt32) {
    if openLost == 1 {
      gapLost += 1
      gapPackets += 1
    } else if openLost > 1 {
      bursts += 1
      burstLost += openLost
      burstPackets += openPackets
    }
    openLost = 0
    openPackets = 0
    gapPackets += UInt64(sequence &- receivedFrom)
  }
}
