/// Makes the ids of calls: UUIDs of version 7 (RFC 9562 section 5.7) as text in lower case.
///
/// | bits | what |
/// |---|---|
/// | 48 | milliseconds since 1970 |
/// | 4 | version 7 |
/// | 12 | a counter within the millisecond (section 6.2, method 1) |
/// | 2 | variant |
/// | 62 | random; with an ``Origin``, 16 of the node's number, 22 of its life, 24 random |
///
/// Texts sort in the order in which the ids were made, also when the clock steps back: then the latest millisecond is
/// counted on, and where its counter is used up, the one after it. An id is a name and no secret.
package struct CallIDMaker: Sendable {
  /// One life of a node of a cluster. As it stands in the id of each of its calls, every node knows whom to ask for one.
  package struct Origin: Hashable, Sendable {
    package static let nodeBits = 16
    package static let lifeBits = 22

    package let node: Int
    /// Counted up with each start of the node.
    package let life: Int

    /// - Returns: `nil` where there is no room for a number in an id.
    package init?(node: Int, life: Int) {
      guard (0..<1 << Origin.nodeBits).contains(node), (0..<1 << Origin.lifeBits).contains(life) else { return nil }
      self.node = node
      self.life = life
    }
  }

  /// `nil` for a gateway by itself.
  package let origin: Origin?
  private var milliseconds: UInt64 = 0
  private var count: UInt64 = 0

  private static let highestTime: UInt64 = 1 << 48 - 1
  private static let highestCount: UInt64 = 1 << 12 - 1
  private static let version: UInt64 = 7
  private static let variant: UInt64 = 0b10
  /// Bits behind the variant that are random where the others tell the origin.
  private static let randomBits: UInt64 = 24

  package init(origin: Origin? = nil) { self.origin = origin }

  /// - Parameters:
  ///   - now: The time of day.
  ///   - draw: 64 random bits each time.
  package mutating func next(at now: Instant, draw: () -> UInt64) -> CallID {
    let time = min(UInt64(clamping: now.milliseconds), CallIDMaker.highestTime)
    if time > milliseconds {
      milliseconds = time
      // Half of the range is left to count in.
      count = draw() & CallIDMaker.highestCount >> 1
    } else if count < CallIDMaker.highestCount {
      count += 1
    } else {
      milliseconds += 1
      count = 0
    }
    let high = milliseconds << 16 | CallIDMaker.version << 12 | count
    var low = draw()
    if let origin {
      let life = UInt64(origin.node) << UInt64(Origin.lifeBits) | UInt64(origin.life)
      low = life << CallIDMaker.randomBits | low & (1 << CallIDMaker.randomBits - 1)
    }
    return CallID(unchecked: CallIDMaker.text(high, CallIDMaker.variant << 62 | low & (1 << 62 - 1)))
  }

  private static func text(_ high: UInt64, _ low: UInt64) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(36)
    for (word, gaps) in [(high, [8, 12]), (low, [0, 4])] {
      for place in 0..<16 {
        if gaps.contains(place) { text.append(UInt8(ascii: "-")) }
        text.append(digits[Int(word >> UInt64(60 - 4 * place) & 15)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension CallID {
  /// The life of the node that made a call of a cluster; `nil` for an id that is no UUID of version 7, such as those of
  /// earlier gateways. The id of a gateway by itself names one that never was.
  package var origin: CallIDMaker.Origin? {
    let groups = text.split(separator: "-", omittingEmptySubsequences: false)
    guard text.utf8.count == 36, groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      groups.allSatisfy({ $0.utf8.allSatisfy { SIPCharacter.hexadecimal($0) != nil } }), groups[2].hasPrefix("7"),
      let low = UInt64(groups[3] + groups[4], radix: 16), low >> 62 == 0b10
    else { return nil }
    let life = low >> 24
    return CallIDMaker.Origin(
      node: Int(life >> UInt64(CallIDMaker.Origin.lifeBits) & (1 << UInt64(CallIDMaker.Origin.nodeBits) - 1)),
      life: Int(life & (1 << UInt64(CallIDMaker.Origin.lifeBits) - 1)))
  }
}
