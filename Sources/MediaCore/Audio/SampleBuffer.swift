/// Room for decoded sound: mono, 16 bits a sample, used again for each packet.
public final class SampleBuffer {
  /// Samples of room: 120 ms at 48 kHz, the longest Opus packet.
  public static let capacity = 5760
  /// The same, in milliseconds at 48 kHz.
  static let milliseconds = 120

  @usableFromInline let base: UnsafeMutablePointer<Int16>
  @usableFromInline var used = 0

  /// All silence, none of it in use.
  public init() {
    base = UnsafeMutablePointer<Int16>.allocate(capacity: SampleBuffer.capacity)
    base.initialize(repeating: 0, count: SampleBuffer.capacity)
  }

  /// At most ``capacity`` samples; more is a mistake of ours and traps.
  public convenience init(_ samples: some Collection<Int16>) {
    self.init()
    count = samples.count
    _ = UnsafeMutableBufferPointer(start: base, count: count).update(from: samples)
  }

  deinit { base.deallocate() }

  /// Samples in use, from the start.
  @inlinable public var count: Int {
    get { used }
    set {
      // Only counts of this process: a decoder is told how much it may write.
      precondition(newValue >= 0 && newValue <= SampleBuffer.capacity, "sound outgrew its buffer")
      used = newValue
    }
  }

  /// Reaches the whole room, in use or not; an index outside of it traps.
  @inlinable public subscript(index: Int) -> Int16 {
    get {
      // An index of this process's own loops; the memory behind is not checked by anything else.
      precondition(index >= 0 && index < SampleBuffer.capacity, "an index outside a sample buffer")
      return base[index]
    }
    set {
      // The same.
      precondition(index >= 0 && index < SampleBuffer.capacity, "an index outside a sample buffer")
      base[index] = newValue
    }
  }

  /// The samples in use.
  public var samples: [Int16] { Array(UnsafeBufferPointer(start: base, count: used)) }

  /// The whole room, for a C function or a loop that is told how much it may use.
  @inlinable public func withUnsafeMutableRoom<Result, Failure: Error>(
    _ body: (UnsafeMutableBufferPointer<Int16>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeMutableBufferPointer(start: base, count: SampleBuffer.capacity))
  }
}
