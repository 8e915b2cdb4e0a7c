import CLandlineLedgerFloor
import CallModel
import RoutingCore

/// A large rate deck: reading it, making it ready, and looking numbers up beside a bare search in C.
public enum RatingBench {
  /// How large a deck, and how many numbers.
  public struct Options: Sendable {
    /// 1 to 4 million, the most that a deck takes.
    public var prefixes = 1_000_000
    /// Random numbers looked up in each round.
    public var lookups = 1_000_000
    /// Rounds that count, after one to warm up.
    public var rounds = 7
    /// Decides the deck; the numbers looked up come from the seed after.
    public var seed: UInt64 = 20_261_121
    /// Told before each part begins.
    public var progress: BenchProgress = { _ in }

    /// A million prefixes, and a million numbers in each of seven rounds.
    public init() {}
  }

  /// Bytes handed to the reader at once.
  static let chunkBytes = 65_536
  /// Seconds of the call that is priced.
  static let callSeconds: Int64 = 95
  private static let instant = Instant(seconds: 1_795_000_000)

  /// - Throws: ``BenchProblem`` for options out of range, or when index and bare search find different prefixes.
  public static func run(_ options: Options) throws -> RatingBenchReport {
    guard (1...RateDeck.maximumRows).contains(options.prefixes), options.lookups > 0, options.rounds > 0 else {
      throw BenchProblem("a deck has 1 to \(RateDeck.maximumRows) prefixes; lookups and rounds are at least 1")
    }
    options.progress("making a deck of \(options.prefixes) prefixes")
    let generated = try GeneratedDeck(prefixes: options.prefixes, seed: options.seed)
    let numbers = try generated.numbers(options.lookups, seed: options.seed &+ 1)

    options.progress("importing \(generated.csv.count) bytes")
    let before = ProcessMemory.startPeak()
    let importStart = ProcessClock.now()
    let deck = try read(generated.csv)
    let importEnd = ProcessClock.now()
    let importPeak = ProcessMemory.peakResidentBytes().flatMap { peak in before.map { peak - $0 } }

    options.progress("building the index")
    let indexStart = ProcessClock.now()
    let index = RateIndex(deck, at: instant)
    let indexEnd = ProcessClock.now()

    options.progress("looking \(options.lookups) numbers up in \(options.rounds) rounds")
    let lookups = try measure(index, generated.keys, numbers, rounds: options.rounds)
    return RatingBenchReport(
      prefixes: options.prefixes, csvBytes: generated.csv.count, importSeconds: importEnd.wall - importStart.wall,
      importCpuSeconds: importEnd.cpu - importStart.cpu, importPeakBytes: importPeak, deckBytes: deck.byteCount,
      indexMilliseconds: (indexEnd.wall - indexStart.wall) * 1000, indexBytes: index.byteCount,
      lookups: options.lookups, lookupNanoseconds: Spread(lookups.match), priceNanoseconds: Spread(lookups.price),
      floorNanoseconds: Spread(lookups.floor), ratio: Spread(zip(lookups.floor, lookups.match).map { $0 / $1 }))
  }

  private static func read(_ csv: [UInt8]) throws -> RateDeck {
    var reader = DeckReader(settings: try DeckSettings(name: "bench", version: "1", currency: .eur))
    csv.withUnsafeBytes { bytes in
      for start in stride(from: 0, to: bytes.count, by: chunkBytes) {
        reader.feed(UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + chunkBytes, bytes.count)]))
      }
    }
    return try reader.finish()
  }

  /// CPU nanoseconds a number, of each round after one to warm up.
  private static func measure(
    _ index: RateIndex, _ keys: [UInt64], _ numbers: [NumberDigits], rounds: Int
  ) throws -> (match: [Double], price: [Double], floor: [Double]) {
    guard let floor = landline_rating_floor_make(keys, keys.count) else {
      throw BenchProblem("memory is too short for the bare search")
    }
    defer { landline_rating_floor_free(floor) }
    let numberKeys = numbers.map(\.key)
    var samples: (match: [Double], price: [Double], floor: [Double]) = ([], [], [])
    func nanoseconds(_ start: ProcessClock, _ end: ProcessClock) -> Double {
      (end.cpu - start.cpu) * 1e9 / Double(numbers.count)
    }
    for round in 0...rounds {
      let start = ProcessClock.now()
      var sum: UInt64 = 0
      for number in numbers {
        if let match = index.match(number, at: instant) { sum &+= match.prefix.key }
      }
      let matched = ProcessClock.now()
      var cost: Int64 = 0
      for number in numbers {
        if let match = index.match(number, at: instant), let price = index.cost(of: match, seconds: callSeconds) {
          cost &+= price.count
        }
      }
      let priced = ProcessClock.now()
      let floorSum = landline_rating_floor_sum(floor, numberKeys, numberKeys.count)
      let searched = ProcessClock.now()
      guard sum == floorSum, cost > 0 else {
        throw BenchProblem("the index and the bare search disagree on the longest prefix of some number")
      }
      if round > 0 {
        samples.match.append(nanoseconds(start, matched))
        samples.price.append(nanoseconds(matched, priced))
        samples.floor.append(nanoseconds(priced, searched))
      }
    }
    return samples
  }
}
