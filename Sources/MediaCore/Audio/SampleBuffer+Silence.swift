extension SampleBuffer {
  /// Makes it `count` samples of silence, at most its capacity.
  public func fillSilence(_ count: Int) {
    self.count = min(max(count, 0), SampleBuffer.capacity)
    withUnsafeMutableRoom { room in
      for index in 0..<self.count { room[index] = 0 }
    }
  }
}
