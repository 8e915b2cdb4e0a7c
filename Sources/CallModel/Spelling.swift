/// What somebody may have meant.
package enum Spelling {
  /// Most slips that a word may be from what was meant; of a short word, one.
  private static let farthest = 2

  /// The candidate nearest to `word`, if it is near enough to be a slip.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let letters = Array(word.lowercased().utf8.prefix(64))
    let limit = letters.count <= 4 ? 1 : farthest
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
      let distance = Spelling.distance(letters, Array(candidate.lowercased().utf8.prefix(64)))
      if distance <= limit, best.map({ distance < $0.distance }) ?? true { best = (distance, candidate) }
    }
    return best?.candidate
  }

  /// Insertions, deletions, replacements and swaps of neighbours between two words.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before: [Int] = []
    var previous = Array(0...right.count)
    for (row, byte) in left.enumerated() {
      var current = [row + 1]
      current.reserveCapacity(right.count + 1)
      for (column, other) in right.enumerated() {
        var cost = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (byte == other ? 0 : 1))
        if row > 0, column > 0, byte == right[column - 1], left[row - 1] == other {
          cost = min(cost, before[column - 1] + 1)
        }
        current.append(cost)
      }
      before = previous
      previous = current
    }
    return previous[right.count]
  }
}
