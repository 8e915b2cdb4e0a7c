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
  let first: UnsafeMutablePointer<Int32>
  let second: UnsafeMutablePointer<Int32>
  private let memory: UnsafeMutablePointer<Int32>

  init() {
    let length = G722Filter.kept + G722Filter.block
    memory = UnsafeMutablePointer<Int32>.allocate(capacity: 2 * length)
    memory.initialize(repeating: 0, count: 2 * length)
    first = memory + G722Filter.kept
    second = memory + length + G722Filter.kept
  }

  deinit { memory.deallocate() }

  /// Both phases at `index` of the block: the filter from first to last, and from last to first.
  @inline(__always)
  func sums(at index: Int) -> (rising: Int32, falling: Int32) {
    let one = UnsafeRawPointer(first + (index - G722Filter.kept))
    let two = UnsafeRawPointer(second + (index - G722Filter.kept))
    let rising8 = SIMD8<Int32>(3, -11, 12, 32, -210, 951, 3876, -805)
    let rising4 = SIMD4<Int32>(362, -156, 53, -11)
    let falling8 = SIMD8<Int32>(-11, 53, -156, 362, -805, 3876, 951, -210)
    let falling4 = SIMD4<Int32>(32, 12, -11, 3)
    let a = one.loadUnaligned(as: SIMD8<Int32>.self) &* rising8
    let b = one.loadUnaligned(fromByteOffset: 32, as: SIMD4<Int32>.self) &* rising4
    let c = two.loadUnaligned(as: SIMD8<Int32>.self) &* falling8
    let d = two.loadUnaligned(fromByteOffset: 32, as: SIMD4<Int32>.self) &* falling4
    return (
      (a.lowHalf &+ a.highHalf &+ b).wrappedSum(), (c.lowHalf &+ c.highHalf &+ d).wrappedSum()
    )
  }

  /// The block of `count` values is done with.
  func advance(_ count: Int) {
    for line in [0, 1] {
      let start = line == 0 ? first - G722Filter.kept : second - G722Filter.kept
      start.update(from: start + count, count: G722Filter.kept)
    }
  }
}
