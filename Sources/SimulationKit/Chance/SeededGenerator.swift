import CallModel

/// A stream of numbers that its seed decides: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
///
/// Choices are drawn with code of its own, so that a seed means the same run under every version of the standard library.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Every seed is a good one, 0 and neighbouring ones included.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits, each value as likely as any other.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A generator whose stream is independent of the rest of this one.
  public mutating func fork() -> SeededGenerator { SeededGenerator(seed: next()) }

  /// 0 to `bound` − 1; 0 for a bound of 0.
  mutating func below(_ bound: UInt64) -> UInt64 { next().multipliedFullWidth(by: bound).high }

  /// A number of a range of fewer than 2⁶⁴ numbers.
  mutating func amount<Amount: MoneyUnits>(_ range: ClosedRange<Int64>) -> Amount { Amount(number(range)) }

  mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
    let span = UInt64(bitPattern: range.upperBound &- range.lowerBound) &+ 1
    return range.lowerBound &+ Int64(bitPattern: span == 0 ? next() : below(span))
  }

  mutating func index(_ count: Int) -> Int { Int(below(UInt64(max(count, 0)))) }

  /// True `parts` times in a thousand.
  mutating func chance(_ parts: UInt64) -> Bool { below(1000) < parts }

  /// One of a few choices; the first stands in for an empty list's missing rest.
  mutating func one<Choice>(_ first: Choice, _ others: Choice...) -> Choice {
    let index = index(others.count + 1)
    return index == 0 ? first : others[index - 1]
  }

  /// An element of a list, or `nil` of an empty one.
  mutating func element<Choice>(of list: [Choice]) -> Choice? { list.isEmpty ? nil : list[index(list.count)] }

  /// The place in a list of weights that a draw falls into.
  mutating func weighted(_ weights: [UInt64]) -> Int {
    var draw = below(weights.reduce(0, +))
    for (index, weight) in weights.enumerated() {
      if draw < weight { return index }
      draw -= weight
    }
    return 0
  }
}
