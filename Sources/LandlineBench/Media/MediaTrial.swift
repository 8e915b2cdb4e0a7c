/// One gateway under one load for some seconds.
package struct MediaTrial: Sendable, Encodable {
  /// Part of the packets that may be lost for a trial to count.
  static let acceptedLoss = 0.001

  package var calls: Int
  /// Microseconds of processor time of the gateway in a second of one call.
  package var cpuMicrosecondsPerCallSecond: Double
  /// Part of the packets that went in and did not come out, the worse direction.
  package var loss: Double
  /// Packets that went in, both directions.
  package var packets: Int
  /// Milliseconds in the gateway; only where it forwards payloads as they are.
  package var delay: Delay?

  package struct Delay: Sendable, Encodable {
    package var mean: Double
    package var p99: Double
    package var most: Double
  }

  package var isCounted: Bool { loss <= Self.acceptedLoss }
  package var callsPerCore: Double { cpuMicrosecondsPerCallSecond > 0 ? 1e6 / cpuMicrosecondsPerCallSecond : 0 }

  enum CodingKeys: CodingKey { case calls, cpuMicrosecondsPerCallSecond, loss, packets, delay }
}

extension MediaTrial {
  /// From what the generator says.
  package init(generator said: String, calls: Int) throws(BenchProblem) {
    let figures = PrintedFigures(text: said)
    let sent = (try figures.number(after: "A tx "), try figures.number(after: "B tx "))
    let received = (try figures.number(after: " rx ", from: "A tx "), try figures.number(after: " rx ", from: "B tx "))
    // More may come out than went in: packets on their way at either end of the interval.
    func loss(_ sent: Double, _ received: Double) -> Double { sent > 0 ? max(0, 1 - received / sent) : 1 }
    self.init(
      calls: calls, cpuMicrosecondsPerCallSecond: try figures.number(after: "gateway CPU/call-s "),
      loss: max(loss(sent.0, received.1), loss(sent.1, received.0)), packets: Int(sent.0 + sent.1))
    if let mean = figures.find("gateway: mean ") {
      delay = Delay(
        mean: mean, p99: try figures.number(after: "p99 < ", from: "gateway: mean "),
        most: try figures.number(after: "max ", from: "gateway: mean "))
    }
  }

  /// From what the floor program says.
  package init(floor said: String, calls: Int) throws(BenchProblem) {
    let figures = PrintedFigures(text: said)
    self.init(
      calls: calls, cpuMicrosecondsPerCallSecond: try figures.number(after: "CPU/call-s "),
      loss: max(0, try figures.number(after: " loss ")) / 100, packets: Int(try figures.number(after: "| sent ")))
    if let mean = figures.find("transit mean ") {
      delay = Delay(
        mean: mean, p99: try figures.number(after: "p99<"), most: try figures.number(after: "max ", from: "p99<"))
    }
  }
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
