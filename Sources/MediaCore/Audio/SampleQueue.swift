/// Sound that waits to be cut into packets of another length. Bounded; the oldest sound gives way.
public final class SampleQueue {
  /// Samples held at most: two of the longest packets at 16 kHz, 85 ms at 48 kHz.
  public static let defaultCapacity = 4_096

  private let ring: UnsafeMutablePointer<Int16>
  /// A power of two.
  public let capacity: Int
  private var start = 0
  /// Samples that wait.
  public private(set) var count = 0

  /// Holds at least `capacity` samples.
  public init(capacity: Int = SampleQueue.defaultCapacity) {
    var size = 64
    while size < capacity { size *= 2 }
    self.capacity = size
    ring = UnsafeMutablePointer<Int16>.allocate(capacity: size)
    ring.initialize(repeating: 0, count: size)
  }

  deinit { ring.deallocate() }

  /// Takes all of `samples`. Returns how many of the oldest samples, waiting or new, were given up for it.
  @discardableResult
  public func push(_ samples: SampleBuffer) -> Int {
    let kept = min(samples.count, capacity)
    let excess = max(count + kept - capacity, 0)
    start = (start + excess) & (capacity - 1)
    count -= excess
    samples.withUnsafeMutableRoom { room in
      guard let source = room.baseAddress else { return }
      copy(kept, from: source + (samples.count - kept), toRing: (start + count) & (capacity - 1))
    }
    count += kept
    return excess + samples.count - kept
  }

  /// Replaces `samples` by the oldest `length` samples. `false`: not so many wait yet, and nothing changed.
  public func pop(_ length: Int, into samples: SampleBuffer) -> Bool {
    guard length >= 0, length <= count, length <= SampleBuffer.capacity else { return false }
    samples.count = length
    samples.withUnsafeMutableRoom { room in
      guard let target = room.baseAddress else { return }
      let first = min(length, capacity - start)
      target.update(from: ring + start, count: first)
      (target + first).update(from: ring, count: length - first)
    }
    start = (start + length) & (capacity - 1)
    count -= length
    return true
  }

  /// Holds what `other` holds, of the same capacity.
  func copyState(from other: SampleQueue) {
    guard other.capacity == capacity else { return }
    ring.update(from: other.ring, count: capacity)
    start = other.start
    count = other.count
  }

  /// Gives up all that waits; the room stays.
  public func removeAll() { (start, count) = (0, 0) }

  private func copy(_ length: Int, from source: UnsafePointer<Int16>, toRing position: Int) {
    let first = min(length, capacity - position)
    (ring + position).update(from: source, count: first)
    ring.update(from: source + first, count: length - first)
  }
}
