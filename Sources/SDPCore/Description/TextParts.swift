extension Collection<UInt8> where SubSequence == Self {
  /// What stands before the first `separator` and what follows it; `nil` where there is none.
  func cut(at separator: UInt8) -> (first: Self, rest: Self?) {
    guard let place = firstIndex(of: separator) else { return (self, nil) }
    return (self[..<place], self[index(after: place)...])
  }

  /// Takes the next word off the front, and the separators before it; `nil` when none is left.
  mutating func nextWord(_ isSeparator: (UInt8) -> Bool = { $0 == 0x20 }) -> Self? {
    var start = startIndex
    while start < endIndex, isSeparator(self[start]) { formIndex(after: &start) }
    var end = start
    while end < endIndex, !isSeparator(self[end]) { formIndex(after: &end) }
    defer { self = self[end...] }
    return start < end ? self[start..<end] : nil
  }
}
