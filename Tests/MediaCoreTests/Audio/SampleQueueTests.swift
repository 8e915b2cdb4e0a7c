import MediaCore
import Testing

@Suite struct SampleQueueTests {
  /// What goes in comes out in order, whatever the lengths, and nothing is lost while it fits.
  @Test func orderHolds() {
    var generator = SeededNoise(state: 3)
    let queue = SampleQueue(capacity: 1_000)
    #expect(queue.capacity == 1_024)
    var model: [Int16] = []
    var next: Int16 = 0
    let output = SampleBuffer()
    for _ in 0..<5_000 {
      if Bool.random(using: &generator) {
        let count = Int.random(in: 0...700, using: &generator)
        let samples = (0..<count).map { _ in
          next &+= 1
          return next
        }
        model += samples
        let excess = max(model.count - queue.capacity, 0)
        #expect(queue.push(SampleBuffer(samples)) == excess)
        model.removeFirst(excess)
      } else {
        let count = Int.random(in: 0...700, using: &generator)
        let popped = queue.pop(count, into: output)
        #expect(popped == (count <= model.count))
        if popped {
          #expect(output.samples == Array(model[..<count]))
          model.removeFirst(count)
        }
      }
      #expect(queue.count == model.count)
    }
    queue.removeAll()
    #expect(queue.count == 0 && !queue.pop(1, into: output) && queue.pop(0, into: output))
  }

  @Test func moreThanItHoldsKeepsTheNewest() {
    let queue = SampleQueue(capacity: 64)
    #expect(queue.push(SampleBuffer((0..<100).map(Int16.init))) == 36)
    let output = SampleBuffer()
    #expect(queue.pop(64, into: output) && output.samples == (36..<100).map(Int16.init))
    #expect(!queue.pop(-1, into: output) && !queue.pop(1, into: output))
  }

  @Test(arguments: [80, 160, 240, 320, 480]) func packetsChangeTheirLength(_ length: Int) {
    let queue = SampleQueue()
    let sound = Sound.noise(samples: 4_800)
    let output = SampleBuffer()
    var out: [Int16] = []
    for start in stride(from: 0, to: sound.count, by: 160) {
      #expect(queue.push(SampleBuffer(sound[start..<(start + 160)])) == 0)
      while queue.pop(length, into: output) { out += output.samples }
    }
    #expect(out == sound)
  }
}
