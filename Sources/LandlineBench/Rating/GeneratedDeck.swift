import RoutingCore

/// A deck made up for measuring: different prefixes of five to ten digits in ascending order, a few thousand prices.
struct GeneratedDeck {
  static let prices = 2000
  static let destinations = 500
  /// Digits of the numbers looked up.
  static let numberDigits = 12

  /// The deck as a CSV file.
  let csv: [UInt8]
  /// ``NumberDigits/key`` of every prefix, ascending.
  let keys: [UInt64]

  init(prefixes: Int, seed: UInt64) throws {
    var random = Xorshift(seed: seed)
    var chosen = Set<UInt64>()
    chosen.reserveCapacity(prefixes)
    while chosen.count < prefixes {
      let length = 5 + Int(random.next() % 6)
      let lowest = (0..<length - 1).reduce(UInt64(1)) { value, _ in value * 10 }
      chosen.insert(try NumberDigits(String(lowest + random.next() % (lowest * 9))).key)
    }
    keys = chosen.sorted()
    var text: [UInt8] = Array("prefix,name,rate,initial,increment\n".utf8)
    text.reserveCapacity(prefixes * 48)
    for (index, key) in keys.enumerated() {
      let price = 1000 + random.next() % UInt64(GeneratedDeck.prices)
      let destination = index * GeneratedDeck.destinations / prefixes
      text.append(contentsOf: "\(NumberDigits(key: key)),Destination \(destination) mobile,0.0\(price),60,1\n".utf8)
    }
    csv = text
  }

  /// Numbers that begin with prefixes of the deck chosen at random.
  func numbers(_ count: Int, seed: UInt64) throws -> [NumberDigits] {
    var random = Xorshift(seed: seed)
    var numbers: [NumberDigits] = []
    numbers.reserveCapacity(count)
    for _ in 0..<count {
      var text = NumberDigits(key: keys[Int(random.next() % UInt64(keys.count))]).description
      while text.utf8.count < GeneratedDeck.numberDigits { text += String(random.next() % 10) }
      numbers.append(try NumberDigits(text))
    }
    return numbers
  }
}

/// Marsaglia's xorshift64: the same numbers in every run.
struct Xorshift {
  private var state: UInt64

  init(seed: UInt64) { state = seed | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state >> 3
  }
}
