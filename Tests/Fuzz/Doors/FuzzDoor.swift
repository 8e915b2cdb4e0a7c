/// One way in: real code of the product that is fed with bytes of strangers, and what must hold whatever they are.
public struct FuzzDoor: Sendable {
  /// Names the folders of its corpus and regressions: `sip-gate`.
  public let name: String
  /// What the bytes are, for people.
  public let feeds: String
  /// Name of the dictionary, without its ending.
  public let dictionary: String
  /// Longest input that makes sense.
  public let maximumBytes: Int
  /// Milliseconds of processor time that one input may take.
  public let milliseconds: Int
  private let body: @Sendable ([UInt8]) throws(BrokenPromise) -> Void

  /// A message that takes a tenth of a second is a finding.
  public static let standardMilliseconds = 100

  init(
    _ name: String, _ feeds: String, dictionary: String, maximumBytes: Int = 4096,
    milliseconds: Int = FuzzDoor.standardMilliseconds,
    _ body: @escaping @Sendable ([UInt8]) throws(BrokenPromise) -> Void
  ) {
    self.name = name
    self.feeds = feeds
    self.dictionary = dictionary
    self.maximumBytes = maximumBytes
    self.milliseconds = milliseconds
    self.body = body
  }

  /// Feeds one input.
  /// - Throws: ``BrokenPromise`` where something does not hold.
  public func run(_ input: [UInt8]) throws(BrokenPromise) { try body(input) }

  /// Feeds one input and measures it. What takes too long is fed again: a page fault or a neighbour's cache misses
  /// are not the input's doing, and what is slow is slow again.
  /// - Throws: ``BrokenPromise``, also for an input that takes more processor time than it may each time.
  public func runWithinBound(_ input: [UInt8]) throws(BrokenPromise) {
    var least = try millisecondsSpent(on: input)
    for _ in 1..<Self.measurements where least > milliseconds { least = min(least, try millisecondsSpent(on: input)) }
    try promise(least <= milliseconds, "one input took \(least) ms of processor time, more than \(milliseconds)")
  }

  /// How often an input that takes too long is measured before it is a finding.
  static let measurements = 3

  private func millisecondsSpent(on input: [UInt8]) throws(BrokenPromise) -> Int {
    let before = processorNanoseconds()
    try run(input)
    return (processorNanoseconds() - before) / 1_000_000
  }
}

/// Something that must hold whatever comes in, and does not.
public struct BrokenPromise: Error, CustomStringConvertible {
  public let description: String
}

/// - Throws: ``BrokenPromise`` with this text unless it holds.
func promise(_ holds: Bool, _ text: @autoclosure () -> String) throws(BrokenPromise) {
  if !holds { throw BrokenPromise(description: text()) }
}

/// The value that must be there.
/// - Throws: ``BrokenPromise`` with this text where it is not.
func promised<Value>(_ value: Value?, _ text: @autoclosure () -> String) throws(BrokenPromise) -> Value {
  guard let value else { throw BrokenPromise(description: text()) }
  return value
}
