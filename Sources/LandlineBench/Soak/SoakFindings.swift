import CallModel

/// What a soak counted.
struct SoakFindings: Sendable {
  /// Operations by name.
  var operations: [String: Int] = [:]
  /// What should not have been, with how often.
  var failures: [String: Int] = [:]
  var ended = 0
  /// Packets that arrived with the right keys.
  var soundToApps = 0
  var soundToFarEnd = 0
  /// What apps were told that their calls cost.
  var costMicro: MicroUnits = 0

  mutating func count(_ operation: String, _ times: Int = 1) { operations[operation, default: 0] += times }

  mutating func fail(_ why: String) { failures[why, default: 0] += 1 }
}
