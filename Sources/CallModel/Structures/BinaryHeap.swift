/// Elements of which the smallest is at hand: adding and taking one costs the logarithm of their number.
///
/// Inlinable, so that each user's loop compares its own elements directly.
public struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
  @usableFromInline var elements: [Element] = []

  @inlinable public init() {}

  /// - Parameter sorted: Ascending, which is a heap already.
  @inlinable public init(sorted: [Element]) { elements = sorted }

  @inlinable public var count: Int { elements.count }
  /// The smallest.
  @inlinable public var first: Element? { elements.first }

  @inlinable public mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  @inlinable public mutating func removeFirst() {
    guard let last = elements.popLast(), !elements.isEmpty else { return }
    elements[0] = last
    sink(0)
  }

  /// Costs a pass over all.
  @inlinable public mutating func removeAll(where isStale: (Element) -> Bool) {
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
