import MediaCore
import Testing

@Suite struct SampleBufferTests {
  @Test func samplesAreKept() {
    let buffer = SampleBuffer([1, -2, 32767])
    #expect(buffer.samples == [1, -2, 32767])
    buffer[1] = 5
    buffer.count = 2
    #expect(buffer.samples == [1, 5])
  }
}
