/// The order in which the records of one SRV answer are tried (RFC 2782, "Usage rules").
enum ServiceOrder {
  /// Lowest priority first; inside a priority each next record is drawn with a chance that follows its weight. A weight
  /// of 0 has next to none while others are there, and all-zero weights are drawn evenly.
  ///
  /// - Parameter limit: Most records kept: a stable choice of the best priorities, made before anything is drawn, so
  ///   that an answer of any length costs one sort.
  static func ordered(_ records: [SRVRecord], limit: Int, identifiers: IdentifierSource) -> [SRVRecord] {
    let kept = records.enumerated()
      .sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
      .prefix(max(0, limit)).map(\.element)
    var result: [SRVRecord] = []
    var rest = kept[...]
    while let priority = rest.first?.priority {
      let group = rest.prefix { $0.priority == priority }
      rest = rest.dropFirst(group.count)
      var waiting = Array(group)
      while !waiting.isEmpty {
        let index = drawn(from: waiting, identifiers: identifiers)
        result.append(waiting.remove(at: index))
      }
    }
    return result
  }

  /// Chances of one unit of weight; a record of weight 0 has one chance.
  private static let chancesOfUnit: UInt64 = 256

  /// An index of `waiting`, which is not empty. RFC 2782 draws from zero to the sum inclusive, which doubles the share
  /// of the first of two records of weight 1; here shares are exact.
  private static func drawn(from waiting: [SRVRecord], identifiers: IdentifierSource) -> Int {
    guard waiting.count > 1 else { return 0 }
    let chances = waiting.map { max(1, UInt64($0.weight) * chancesOfUnit) }
    var draw = below(chances.reduce(0, +), identifiers)
    for (index, chance) in chances.enumerated() {
      if draw < chance { return index }
      draw -= chance
    }
    return waiting.count - 1
  }

  /// A number under `bound`: the high half of a product, even to within `bound` parts of 2^64.
  private static func below(_ bound: UInt64, _ identifiers: IdentifierSource) -> UInt64 {
    identifiers.number().multipliedFullWidth(by: bound).high
  }
}
