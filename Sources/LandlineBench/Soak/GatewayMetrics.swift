import Foundation

/// What a gateway counts, as `/metrics` tells it.
struct GatewayMetrics: Sendable {
  /// By name with its labels.
  let values: [String: Double]

  /// Gauges of what a call or an app holds while it is there.
  private static let held = [
    "landline_live_calls", "landline_trunk_live_calls", "landline_media_legs", "landline_sessions",
  ]
  private static let maximumBytes = 4_194_304
  private static let answerMilliseconds = 20_000

  /// What is still there, where nothing should be; sessions are there as long as apps are.
  var leftOvers: [String: Double] {
    values.filter { value in
      value.value != 0 && Self.held.contains { value.key == $0 || value.key.hasPrefix("\($0){") }
        && !value.key.hasPrefix("landline_sessions")
    }
  }

  func sum(_ name: String) -> Double {
    values.filter { $0.key == name || $0.key.hasPrefix("\(name){") }.values.reduce(0, +)
  }

  static func read(_ port: UInt16) throws(BenchProblem) -> GatewayMetrics {
    let text = try LoopbackSockets.get(
      "/metrics", port: port, maximumBytes: maximumBytes, milliseconds: answerMilliseconds)
    var values: [String: Double] = [:]
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else { continue }
      values[String(line[..<space])] = value
    }
    guard !values.isEmpty else { throw BenchProblem("the gateway shows no metrics") }
    return GatewayMetrics(values: values)
  }
}
