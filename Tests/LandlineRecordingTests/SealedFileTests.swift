import CallModel
import LandlineRecording
import Testing

@Suite("The sealed form of a recording")
struct SealedFileTests {
  private let key: RecordingKey
  private let salt = [UInt8](0..<16)

  init() throws { key = try #require(RecordingKey([UInt8](repeating: 7, count: 32))) }

  /// A file and its sound, in segments as they are given; the last of them closes it.
  private func sealed(_ parts: [[UInt8]], isClosed: Bool = true) throws -> [UInt8] {
    var writer = try #require(SealedWriter(.wav, channels: 2, key: key, salt: salt))
    var bytes = writer.head
    for (number, part) in parts.enumerated() {
      let sealed = writer.segments(part, isLast: isClosed && number == parts.count - 1)
      bytes += try #require(sealed)
    }
    return bytes
  }

  private func part(_ count: Int, _ seed: UInt8) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0) &* 31 &+ seed }
  }

  private func reader(_ bytes: [UInt8], keys: [RecordingKey]? = nil) throws(SealedFault) -> SealedReader {
    try SealedReader(bytes, keys: keys ?? [key])
  }

  /// All of the sound.
  private func sound(_ bytes: [UInt8]) throws(SealedFault) -> (sound: [UInt8], isComplete: Bool) {
    let reader = try reader(bytes)
    return (try reader.read(from: 0, count: Int(reader.byteCount)), reader.isComplete)
  }

  private func fault(_ bytes: [UInt8]) -> SealedFault? {
    do throws(SealedFault) {
      _ = try sound(bytes)
      return nil
    } catch { return error }
  }

  @Test("the sound comes back, whole and from anywhere")
  func ranges() throws {
    let parts = [part(100, 1), part(1, 2), part(SealedFile.maximumSegmentBytes + 10, 3), part(7, 4), []]
    let whole = parts.flatMap { $0 }
    let reader = try reader(try sealed(parts))
    #expect(reader.byteCount == Int64(whole.count) && reader.isComplete)
    #expect(reader.format == .wav && reader.channels == 2)
    #expect(try Sound(reader.read(from: 0, count: whole.count)) == Sound(whole))
    #expect(try Sound(reader.read(from: 0, count: .max)) == Sound(whole))
    let edges = [0, 1, 99, 100, 101, 102, whole.count - 8, whole.count - 7, whole.count - 1, whole.count]
    for from in edges {
      for count in [0, 1, 2, 150, whole.count] {
        #expect(
          try Sound(reader.read(from: Int64(from), count: count))
            == Sound(whole[from..<min(whole.count, from + count)]),
          "\(count) from \(from)")
      }
    }
    for (from, count) in [(Int64(-1), 5), (Int64(whole.count + 1), 5), (.max, .max), (0, -1)] {
      #expect(try reader.read(from: from, count: count).isEmpty)
    }
    // No two files, and no two segments, look the same.
    #expect(try sealed([part(50, 1), part(50, 1)]).count == 32 + 2 * (50 + 21))
  }

  @Test("cut off in any place it reads up to its last whole segment")
  func cutOff() throws {
    let parts = [part(40, 1), part(3, 2), part(25, 3), []]
    let file = try sealed(parts)
    var ends = [32]
    for part in parts { ends.append(ends[ends.count - 1] + part.count + 21) }
    #expect(ends.last == file.count)
    for count in 0...file.count {
      let cut = Array(file.prefix(count))
      guard count >= 32 else {
        #expect(fault(cut) == .noHead)
        continue
      }
      let wholes = ends.filter { $0 <= count }.count - 1
      let (sound, isComplete) = try sound(cut)
      #expect(sound == parts.prefix(wholes).flatMap { $0 }, "\(count) bytes")
      #expect(isComplete == (count == file.count))
    }
  }

  @Test("a bit that is another is refused, and says in which segment; at most it makes a file that was cut off")
  func flipped() throws {
    let parts = [part(20, 1), part(3, 2), part(9, 3)]
    let file = try sealed(parts)
    let whole = parts.flatMap { $0 }
    for place in 0..<(file.count * 8) {
      var changed = file
      changed[place / 8] ^= 1 << UInt8(place % 8)
      let at = place / 8
      let found = fault(changed)
      switch at {
      case 0..<4, 28, 30, 31: #expect(found == .notSealed, "byte \(at)")
      case 20..<28: #expect(found == .unknownKey, "byte \(at)")
      case 4..<20, 29: #expect(found == .notSealed || found == .segment(2), "byte \(at)")
      default:
        guard let found else {
          // A length that leads behind the end.
          let (sound, isComplete) = try sound(changed)
          #expect(!isComplete && sound.count < whole.count && whole.starts(with: sound), "byte \(at)")
          continue
        }
        let (first, second) = (32 + 41, 32 + 41 + 24)
        let number = at < first ? 0 : at < second ? 1 : 2
        // The last one is looked at first; a length that is another moves all that follow.
        let isHead = [32, first, second].contains { at >= $0 && at < $0 + 5 }
        if isHead {
          if case .segment = found { continue }
          if case .behindLast = found { continue }
          Issue.record("byte \(at): \(found)")
        } else {
          #expect(found == .segment(number), "byte \(at)")
        }
      }
    }
  }

  @Test("segments that were exchanged, doubled, left out or added are refused")
  func moved() throws {
    // All of one length, so that nothing but their seal tells them apart.
    let file = try sealed([part(10, 1), part(10, 2), part(10, 3), part(10, 4)])
    let head = Array(file.prefix(32))
    let segments = (0..<4).map { Array(file[(32 + $0 * 31)..<(63 + $0 * 31)]) }
    func joined(_ order: [Int]) -> [UInt8] { head + order.flatMap { segments[$0] } }
    #expect(fault(joined([0, 1, 2, 3])) == nil)
    #expect(fault(joined([1, 0, 2, 3])) == .segment(0))
    #expect(fault(joined([0, 0, 1, 2, 3])) == .segment(4))
    #expect(fault(joined([0, 0, 1, 2])) == .segment(1))
    #expect(fault(joined([0, 2, 1, 3])) == .segment(1))
    #expect(fault(joined([0, 2, 3])) == .segment(2))
    #expect(fault(joined([3, 0, 1, 2])) == .behindLast(0))
    #expect(fault(joined([0, 1, 2, 3, 3])) == .behindLast(3))
    #expect(fault(joined([0, 1, 2, 3]) + [0]) == .behindLast(3))
    // What another file of the same key holds is none of this one's.
    var other = try #require(SealedWriter(.wav, channels: 2, key: key, salt: [UInt8](repeating: 9, count: 16)))
    let foreign = other.segments(part(10, 1))
    #expect(fault(head + (try #require(foreign))) == .segment(0))
    // Neither can a file be closed by others, nor its closing be taken away.
    var closed = segments[1]
    closed[4] = 1
    #expect(fault(head + segments[0] + closed) == .segment(1))
    var open = segments[3]
    open[4] = 0
    #expect(fault(joined([0, 1, 2]) + open) == .segment(3))
  }

  @Test("each file is read under the key that it was sealed under")
  func keys() throws {
    let other = try #require(RecordingKey([UInt8](repeating: 8, count: 32)))
    let file = try sealed([part(10, 1)])
    #expect(try reader(file, keys: [other, key]).read(from: 0, count: 10) == part(10, 1))
    for keys in [[other], []] {
      #expect(throws: SealedFault.unknownKey) { try reader(file, keys: keys) }
    }
    #expect(RecordingKey([]) == nil && RecordingKey([UInt8](repeating: 0, count: 33)) == nil)
    #expect("\(key)".contains("redacted") && !"\(key)".contains("[7, 7"))
  }

  @Test("lengths that no writer wrote are refused before anything is taken for them")
  func lengths() throws {
    let head = Array(try sealed([[]]).prefix(32))
    let room = [UInt8](repeating: 0, count: 64)
    #expect(fault(head + [0, 0, 0, 0, 0] + room) == .segment(0))
    #expect(fault(head + [1, 0, 0x10, 0, 0] + room) == .segment(0))
    #expect(fault(head + [0xFF, 0xFF, 0xFF, 0xFF, 0] + room) == .segment(0))
    #expect(fault(head + [1, 0, 0, 0, 2] + room) == .segment(0))
    var writer = try #require(SealedWriter(.opus, channels: 1, key: key, salt: salt))
    let written = [writer.segments([]), writer.segments([], isLast: true), writer.segments([1])]
    #expect(written.map { $0?.count } == [0, 21, nil])
    #expect(SealedWriter(.opus, channels: 0, key: key, salt: salt) == nil)
    #expect(SealedWriter(.opus, channels: 1, key: key, salt: [1]) == nil)
    let full = try #require(SealedWriter(.opus, channels: 1, key: key, salt: salt))
    #expect(full.isFull(adding: Int(SealedFile.maximumBytes) + 1) && !full.isFull(adding: 1 << 24))
  }

  @Test("no bytes trap")
  func anything() throws {
    var generator = SystemRandomNumberGenerator()
    let file = try sealed([part(30, 1), part(30, 2)])
    for _ in 0..<3000 {
      var bytes = file
      for _ in 0..<Int.random(in: 1...6) { bytes[Int.random(in: 28..<bytes.count)] = generator.next() }
      if Bool.random() { bytes.removeLast(Int.random(in: 0..<bytes.count)) }
      _ = fault(bytes)
    }
  }
}
