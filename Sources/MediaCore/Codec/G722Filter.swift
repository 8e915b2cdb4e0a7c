/// The quadrature mirror filter of ITU-T G.722: two signals at 8 kHz, each filtered by one phase of it.
///
/// Works in blocks, so that the latest eleven values of both signals are moved once a block.
struct G722Filter: ~Copyable {
  /// Samples at 16 kHz by which filtering apart and together again delays the sound.
  static let delay = 22
  /// Most values of a block.
  static let block = 160
  private static let taps = 12
  private static let kept = taps - 1

  /// Where to write the block: of either signal.
  let first: UnsafeMutablePointer<Int16>
  let second: UnsafeMutablePointer<Int16>
  private let memory: UnsafeMutablePointer<Int16>

  init() {
    let length = G722Filter.kept + G722Filter.block
    memory = UnsafeMutablePointer<Int16>.allocate(capacity: 2 * length)
    memory.initialize(repeating: 0, count: 2 * length)
    first = memory + G722Filter.kept
    second = memory + length + G722Filter.kept
  }

  deinit { memory.deallocate() }

  /// Both phases at `index` of the block: the filter from first to last, and from last to first.
  @inline(__always)
  func sums(at index: Int) -> (rising: Int32, falling: Int32) {
    let one = first + (index - G722Filter.kept)
    let two = second + (index - G722Filter.kept)
    let rising0 = Int32(one[0]) &* 3 &+ Int32(one[1]) &* (-11) &+ Int32(one[2]) &* 12
    let rising1 = Int32(one[3]) &* 32 &+ Int32(one[4]) &* (-210) &+ Int32(one[5]) &* 951
    let rising2 = Int32(one[6]) &* 3876 &+ Int32(one[7]) &* (-805) &+ Int32(one[8]) &* 362
    let rising3 = Int32(one[9]) &* (-156) &+ Int32(one[10]) &* 53 &+ Int32(one[11]) &* (-11)
    let falling0 = Int32(two[0]) &* (-11) &+ Int32(two[1]) &* 53 &+ Int32(two[2]) &* (-156)
    let falling1 = Int32(two[3]) &* 362 &+ Int32(two[4]) &* (-805) &+ Int32(two[5]) &* 3876
    let falling2 = Int32(two[6]) &* 951 &+ Int32(two[7]) &* (-210) &+ Int32(two[8]) &* 32
    let falling3 = Int32(two[9]) &* 12 &+ Int32(two[10]) &* (-11) &+ Int32(two[11]) &* 3
    return (rising0 &+ rising1 &+ rising2 &+ rising3, falling0 &+ falling1 &+ falling2 &+ falling3)
  }

  /// Filters, and goes on afterwards as if it had not.
  func trying<Result>(_ work: () -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: Int16.self, capacity: 2 * G722Filter.kept) { before in
      for index in 0..<G722Filter.kept {
        before[index] = (first - G722Filter.kept)[index]
        before[G722Filter.kept + index] = (second - G722Filter.kept)[index]
      }
      defer {
        for index in 0..<G722Filter.kept {
          (first - G722Filter.kept)[index] = before[index]
          (second - G722Filter.kept)[index] = before[G722Filter.kept + index]
        }
      }
      return work()
    }
  }

  /// Goes on as `other` would.
  func copyState(from other: borrowing G722Filter) {
    memory.update(from: other.memory, count: 2 * (G722Filter.kept + G722Filter.block))
  }

  /// The block of `count` values is done with.
  func advance(_ count: Int) {
    (first - G722Filter.kept).update(from: first + (count - G722Filter.kept), count: G722Filter.kept)
    (second - G722Filter.kept).update(from: second + (count - G722Filter.kept), count: G722Filter.kept)
  }
}
