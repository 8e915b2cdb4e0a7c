import Foundation

/// The codecs of others, as the `ffmpeg` program has them.
enum ForeignCodec {
  static let isPresent = FileManager.default.isExecutableFile(atPath: program)
  static let absence = "ffmpeg is not installed, so no second implementation judges"
  private static let program = "/usr/bin/ffmpeg"

  /// 16-bit samples to a raw stream of `format`.
  static func encode(_ samples: [Int16], rate: Int, to format: String) throws -> [UInt8] {
    let input = samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    return try run(["-f", "s16le", "-ar", "\(rate)", "-ac", "1", "-i"], input, ["-f", format])
  }

  /// A raw stream of `format` to 16-bit samples.
  static func decode(_ bytes: [UInt8], from format: String) throws -> [Int16] {
    let output = try run(["-f", format, "-i"], bytes, ["-f", "s16le"])
    return stride(from: 0, to: output.count - 1, by: 2).map {
      Int16(truncatingIfNeeded: Int(output[$0]) | Int(output[$0 + 1]) << 8)
    }
  }

  private static func run(_ before: [String], _ input: [UInt8], _ after: [String]) throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("codec-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("in")
    let target = folder.appendingPathComponent("out")
    try Data(input).write(to: source)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = ["-v", "error", "-y"] + before + [source.path] + after + [target.path]
    try process.run()
    process.waitUntilExit()
    return [UInt8](try Data(contentsOf: target))
  }
}
