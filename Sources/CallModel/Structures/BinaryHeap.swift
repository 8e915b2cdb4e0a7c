/// Elements of which the smallest is at hand: adding and taking one costs the logarithm of their number.
///
/// Inlinable, so that each user's loop compares its own elements directly.
package struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
  @usableFromInline var elements: [Element] = []

  @inlinable package init() {}

  /// - Parameter sorted: Ascending, which is a heap already.
  @inlinable package init(sorted: [Element]) { elements = sorted }

  @inlinable package var count: Int { elements.count }
  /// The smallest.
  @inlinable package var first: Element? { elements.first }

  @inlinable package mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  @inlinable package mutating func removeFirst() {
    guard let last = elements.popLast(), !elements.isEmpty else { return }
    elements[0] = last
    sink(0)
  }

  /// Costs a pass over all.
  @inlinable package mutating func removeAll(where isStale: (Element) -> Bool) {
    elements.removeAll(where: isStale)
    for parent in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(parent) }
  }

  @inlinable mutating func sink(_ start: Int) {
    var parent = start
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < elements.count && elements[child] < elements[least]
      {
        least = child
      }
      guard least != parent else { return }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}
