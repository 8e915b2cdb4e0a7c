extension SampleBuffer {
  /// Lets the first `count` samples come in from silence.
  func fadeIn(_ count: Int) {
    let count = min(max(count, 0), self.count)
    withUnsafeMutableRoom { room in
      for index in 0..<count { room[index] = SampleBuffer.faded(room[index], index, of: count) }
    }
  }

  /// Lets the last `count` samples go to silence.
  func fadeOut(_ count: Int) {
    let count = min(max(count, 0), self.count)
    let last = self.count - 1
    withUnsafeMutableRoom { room in
      for index in 0..<count { room[last - index] = SampleBuffer.faded(room[last - index], index, of: count) }
    }
  }

  private static func faded(_ sample: Int16, _ index: Int, of count: Int) -> Int16 {
    Int16(truncatingIfNeeded: Int32(sample) * Int32(index) / Int32(count))
  }
}
