/// What an app measured in a call: names and numbers of its choice, within bounds.
enum CallStatistics {
  /// Values of one call; further ones are left out.
  static let maximumValues = 64
  /// Bytes of a name; longer ones are left out.
  static let maximumNameBytes = 64

  /// What of it can be kept: finite numbers, in the order of their names where there are too many.
  static func bounded(_ values: [String: Double]) -> [String: Double] {
    let good = values.filter { name, value in
      value.isFinite && (1...maximumNameBytes).contains(name.utf8.count)
        && name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
    guard good.count > maximumValues else { return good }
    return Dictionary(uniqueKeysWithValues: good.sorted { $0.key < $1.key }.prefix(maximumValues).map { ($0, $1) })
  }
}
