import LandlineConsole
import SimulationKit

/// What `landline-lab simulate relay` is asked for.
struct RelayOptions: Sendable {
  /// `HOST:PORT` to listen on, and of the far end.
  var listen: String
  var target: String
  /// What both directions are at the start.
  var path = RelayPath()
  var seed: UInt64 = 1
  /// Seconds; `nil`: until it is interrupted.
  var duration: Double?
  /// Lines of standard input change the network.
  var readsCommands = false

  init(listen: String, target: String) {
    self.listen = listen
    self.target = target
  }

  /// Longest run in seconds: a day.
  static let maximumDuration = 86_400.0

  /// - Throws: ``ConsoleError`` for a value out of range.
  func check() throws {
    if let duration { _ = try RelayPath.checked(duration, 0.1...RelayOptions.maximumDuration, "--duration") }
  }
}

/// What one direction does to datagrams, in the units of the command line.
struct RelayPath: Sendable {
  /// Milliseconds.
  var delay = 0.0
  var jitter = 0.0
  /// Percent.
  var loss = 0.0
  var reorder = 0.0
  var duplicate = 0.0
  var corrupt = 0.0
  /// Mean datagrams of a run of losses.
  var burst = 1.0
  /// Kilobits a second.
  var rate: Double?
  /// Datagrams that wait for the rate.
  var queue = Double(ImpairmentOptions.perfect.queue)
  /// Bytes that count against the rate with each datagram.
  var headers = 0.0

  /// - Throws: ``ConsoleError`` for a value out of range.
  func impairment() throws -> ImpairmentOptions {
    func part(_ percent: Double, _ option: String) throws -> Double {
      try RelayPath.checked(percent, 0...100, option) / 100
    }
    func time(_ milliseconds: Double, _ option: String) throws -> Int64 {
      Int64(try RelayPath.checked(milliseconds, 0...Double(ImpairmentOptions.maximumDelay / 1000), option) * 1000)
    }
    func count(_ value: Double, _ most: Int, _ option: String) throws -> Int {
      Int(try RelayPath.checked(value, 0...Double(most), option))
    }
    var options = ImpairmentOptions()
    options.delay = try time(delay, "--delay")
    options.jitter = try time(jitter, "--jitter")
    options.loss = .bursts(
      rate: try part(loss, "--loss"), length: try RelayPath.checked(burst, 1...1000, "--burst"))
    options.reorder = try part(reorder, "--reorder")
    options.duplicate = try part(duplicate, "--duplicate")
    options.corrupt = try part(corrupt, "--corrupt")
    options.queue = try count(queue, ImpairmentOptions.maximumQueue, "--queue")
    options.headers = try count(headers, ImpairmentOptions.maximumHeaders, "--headers")
    if let rate { options.bitRate = Int64(try RelayPath.checked(rate, 1...10_000_000, "--rate") * 1000) }
    return options
  }

  static func checked(_ value: Double, _ range: ClosedRange<Double>, _ option: String) throws -> Double {
    guard range.contains(value) else {
      throw ConsoleError.usage(
        "relay.range", "value: \(value) is out of range", at: option,
        fix: "\(plain(range.lowerBound)) to \(plain(range.upperBound))")
    }
    return value
  }

  private static func plain(_ value: Double) -> String {
    value == value.rounded() ? String(Int64(value)) : String(value)
  }
}
