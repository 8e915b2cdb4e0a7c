/// One gateway under one load for some seconds.
struct MediaTrial: Sendable, Encodable {
  /// Part of the packets that may be lost for a trial to count.
  static let acceptedLoss = 0.001

  var calls: Int
  /// Microseconds of processor time of the gateway in a second of one call.
  var cpuMicrosecondsPerCallSecond: Double
  /// Part of the packets that went in and did not come out, the worse direction.
  var loss: Double
  /// Packets that went in, both directions.
  var packets: Int
  /// Milliseconds in the gateway; only where it forwards payloads as they are.
  var delay: Delay?

  struct Delay: Sendable, Encodable {
    var mean: Double
    var p99: Double
    var most: Double
  }

  var isCounted: Bool { loss <= Self.acceptedLoss }
  var callsPerCore: Double { cpuMicrosecondsPerCallSecond > 0 ? 1e6 / cpuMicrosecondsPerCallSecond : 0 }

  enum CodingKeys: CodingKey { case calls, cpuMicrosecondsPerCallSecond, loss, packets, delay }
}

/// Reads figures out of the lines of measuring programs: the number behind some words.
struct PrintedFigures {
  let text: String

  func number(after words: String, from start: String? = nil) throws(BenchProblem) -> Double {
    guard let number = find(words, start) else {
      throw BenchProblem("no \"\(words)\" in: \(text.split(separator: "\n").last ?? "")")
    }
    return number
  }

  func find(_ words: String, _ start: String? = nil) -> Double? {
    var rest = text[...]
    for each in [start, words].compactMap({ $0 }) {
      guard let range = rest.firstRange(of: each) else { return nil }
      rest = rest[range.upperBound...]
    }
    return Double(rest.drop { $0 == " " }.prefix { $0.isNumber || $0 == "." || $0 == "-" })
  }
}
