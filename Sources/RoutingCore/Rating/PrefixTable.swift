/// Values by prefix, looked up by the longest prefix of a number that is there.
struct PrefixTable<Value: Hashable & Sendable>: Hashable, Sendable {
  private let keys: [UInt64]
  private let values: [Value]
  /// Bit n is set when a prefix of n digits is there.
  private let lengths: UInt16

  /// - Parameter entries: sorted by prefix, each prefix once.
  init(sorted entries: [(prefix: NumberDigits, value: Value)]) {
    keys = entries.map(\.prefix.key)
    values = entries.map(\.value)
    lengths = entries.reduce(0) { $0 | 1 << UInt16($1.prefix.count) }
  }

  var count: Int { keys.count }

  func longestMatch(of number: NumberDigits) -> (prefix: NumberDigits, value: Value)? {
    for length in stride(from: number.count, through: 1, by: -1) where lengths & 1 << UInt16(length) != 0 {
      guard let prefix = number.prefix(length) else { continue }
      var low = 0
      var high = keys.count
      while low < high {
        let middle = (low + high) / 2
        if keys[middle] < prefix.key { low = middle + 1 } else { high = middle }
      }
      if low < keys.count, keys[low] == prefix.key { return (prefix, values[low]) }
    }
    return nil
  }
}
