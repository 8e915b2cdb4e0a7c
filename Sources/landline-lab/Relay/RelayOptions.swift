import LandlineConsole
import SimulationKit

/// What `landline-lab simulate relay` is asked for.
struct RelayOptions: Sendable {
  /// `HOST:PORT` to listen on, and of the far end.
  var listen: String
  var target: String
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
  /// Kilobits a second in each direction.
  var rate: Double?
  var seed: UInt64 = 1
  /// Seconds; `nil`: until it is interrupted.
  var duration: Double?

  init(listen: String, target: String) {
    self.listen = listen
    self.target = target
  }

  /// Longest run in seconds: a day.
  static let maximumDuration = 86_400.0

  /// - Throws: ``ConsoleError`` for a value out of range.
  func impairment() throws -> ImpairmentOptions {
    func checked(_ value: Double, _ range: ClosedRange<Double>, _ option: String) throws -> Double {
      guard range.contains(value) else {
        throw ConsoleError.usage(
          "relay.range", "value: \(value) is out of range", at: option,
          fix: "\(RelayOptions.plain(range.lowerBound)) to \(RelayOptions.plain(range.upperBound))")
      }
      return value
    }
    func part(_ percent: Double, _ option: String) throws -> Double { try checked(percent, 0...100, option) / 100 }
    func time(_ milliseconds: Double, _ option: String) throws -> Int64 {
      Int64(try checked(milliseconds, 0...Double(ImpairmentOptions.maximumDelay / 1000), option) * 1000)
    }
    var options = ImpairmentOptions()
    options.delay = try time(delay, "--delay")
    options.jitter = try time(jitter, "--jitter")
    options.loss = .bursts(rate: try part(loss, "--loss"), length: try checked(burst, 1...1000, "--burst"))
    options.reorder = try part(reorder, "--reorder")
    options.duplicate = try part(duplicate, "--duplicate")
    options.corrupt = try part(corrupt, "--corrupt")
    if let rate { options.bitRate = Int64(try checked(rate, 1...10_000_000, "--rate") * 1000) }
    if let duration { _ = try checked(duration, 0.1...RelayOptions.maximumDuration, "--duration") }
    return options
  }

  private static func plain(_ value: Double) -> String {
    value == value.rounded() ? String(Int64(value)) : String(value)
  }
}
