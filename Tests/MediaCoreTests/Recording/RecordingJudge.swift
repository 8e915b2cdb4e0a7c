import Foundation

/// What other programs say of a file.
enum RecordingJudge {
  static let readsOpus = "/usr/bin/opusinfo"
  static let decodes = "/usr/bin/ffmpeg"
  static let measures = "/usr/bin/ffprobe"
  static let arePresent = [readsOpus, decodes, measures].allSatisfy(FileManager.default.isExecutableFile)
  static let absence = "opusinfo and ffmpeg are not installed, so nobody else judges the files"

  /// All that `opusinfo` has to say.
  static func opusInfo(_ bytes: [UInt8]) throws -> String {
    try withFile(bytes, "opus") { try run(readsOpus, [$0]) }
  }

  /// Seconds.
  static func duration(_ bytes: [UInt8], _ kind: String) throws -> Double? {
    let text = try withFile(bytes, kind) {
      try run(measures, ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", $0])
    }
    return Double(text.trimmingCharacters(in: .whitespacesAndNewlines))
  }

  /// The channels' samples at 16 kHz.
  static func decode(_ bytes: [UInt8], _ kind: String, channels: Int) throws -> [[Int16]] {
    let output = try withFile(bytes, kind) { path in
      let target = path + ".raw"
      let said = try run(
        decodes,
        ["-v", "warning", "-y"] + (kind == "opus" ? ["-c:a", "libopus"] : [])
          + ["-i", path, "-f", "s16le", "-ar", "16000", "-ac", "\(channels)", target])
      // A WAV file says nothing of left and right.
      let faults = said.split(separator: "\n").filter { !$0.contains("Guessed Channel Layout") }
      guard faults.isEmpty else { throw Failure(text: said) }
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: target)))
    }
    return (0..<channels).map { channel in
      stride(from: 2 * channel, to: output.count - 1, by: 2 * channels).map {
        Int16(truncatingIfNeeded: Int(output[$0]) | Int(output[$0 + 1]) << 8)
      }
    }
  }

  struct Failure: Error { let text: String }

  private static func withFile<Result>(_ bytes: [UInt8], _ kind: String, _ body: (String) throws -> Result) throws
    -> Result
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("recording-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("sound.\(kind)")
    try Data(bytes).write(to: file)
    return try body(file.path)
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
