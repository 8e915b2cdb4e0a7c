import CallModel
import LandlineRecording

/// Recordings as they lie on a disk that others may have written to.
enum RecordingDoors {
  static let all = [
    FuzzDoor("recording-file", "a sealed recording, then what becomes of one", dictionary: "none", maximumBytes: 16_384)
    {
      (input) throws(BrokenPromise) in
      try read(input)
      try change(input)
    }
  ]

  private static let salt = Array("salt of the door".utf8)
  private static let key = RecordingKey(Array(repeating: 0x4B, count: RecordingKey.byteCount))

  /// Whatever the bytes are: what is read is in the file, and is the same in one piece and in many.
  private static func read(_ file: [UInt8]) throws(BrokenPromise) {
    let key = try promised(key, "no key")
    guard let reader = try? SealedReader(file, keys: [key]) else { return }
    try promise(reader.byteCount <= Int64(file.count), "sound that is not in the file")
    guard let whole = try? reader.read(from: 0, count: .max) else { return }
    try promise(Int64(whole.count) == reader.byteCount, "\(whole.count) of \(reader.byteCount) bytes")
    var pieces: [UInt8] = []
    while pieces.count < whole.count {
      guard let piece = try? reader.read(from: Int64(pieces.count), count: whole.count / 5 + 1), !piece.isEmpty else {
        throw BrokenPromise(description: "no piece at \(pieces.count)")
      }
      pieces += piece
    }
    try promise(pieces == whole, "other sound in pieces")
  }

  /// The input as orders and sound: a file that our own writer seals, cut, turned, moved or closed by the orders. It is refused, or
  /// gives the beginning of the sound; all of it, closed, only where nothing was changed.
  private static func change(_ input: [UInt8]) throws(BrokenPromise) {
    guard input.count >= 6 else { return }
    let key = try promised(key, "no key")
    var writer = try promised(SealedWriter(.wav, channels: 1, key: key, salt: salt), "no writer")
    let (parts, order) = (Int(input[0] & 7) + 1, input[1] % 5)
    let (place, value) = (Int(input[2]) << 8 | Int(input[3]), input[4])
    let sound = Array(input.dropFirst(5).prefix(1024))
    var segments: [[UInt8]] = []
    for number in 0..<parts {
      let part = Array(sound[(sound.count * number / parts)..<(sound.count * (number + 1) / parts)])
      segments.append(try promised(writer.segments(part, isLast: number == parts - 1), "no segment"))
    }
    let whole = writer.head + segments.flatMap { $0 }
    var file = whole
    switch order {
    case 0: file.removeLast(place % (file.count + 1))
    case 1: file[place % file.count] ^= value
    case 2:
      segments.swapAt(place % parts, Int(value) % parts)
      file = writer.head + segments.flatMap { $0 }
    case 3: file.insert(value, at: place % (file.count + 1))
    default:
      // Ends early, and says that it is the end.
      segments.removeLast(place % parts)
      if let last = segments.indices.last, segments[last].count > 4 { segments[last][4] = 1 }
      file = writer.head + segments.flatMap { $0 }
    }
    guard let reader = try? SealedReader(file, keys: [key]), let found = try? reader.read(from: 0, count: .max) else {
      return try promise(file != whole, "an unchanged file is refused")
    }
    try promise(sound.starts(with: found), "sound that nobody recorded")
    try promise(!reader.isComplete || file == whole, "a changed file passes for a whole one")
    try promise(file != whole || found == sound, "sound is lost")
  }
}
