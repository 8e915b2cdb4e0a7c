public import Foundation
import Glibc

/// What one test measured for a row of the scoreboard: a line of JSON in the file that `LANDLINE_SCOREBOARD` names.
///
/// Several lines for one row are allowed; the board shows the worst of them.
public struct ScoreboardRow: Encodable, Equatable, Sendable {
  /// The row's id, `B17`.
  public var row: String
  /// What was measured, as text: `0.74`.
  public var figure: String
  /// What the figure counts: `bytes out / bytes in`.
  public var unit: String
  /// What it must come to: `<= 1.0`.
  public var target: String
  public var passed: Bool
  /// `ci` or `full`.
  public var size: String
  public var detail: String
  /// Whether a miss must fail a build: a crash, a leak, a wrong bill, a broken promise.
  public var gate: Bool

  public init(
    _ row: String, figure: String, unit: String, target: String, passed: Bool, detail: String = "", gate: Bool = false
  ) {
    self.row = row
    self.figure = figure
    self.unit = unit
    self.target = target
    self.passed = passed
    self.size = Self.isFull ? "full" : "ci"
    self.detail = detail
    self.gate = gate
  }

  /// Whether the long campaigns were asked for (`LANDLINE_FULL`).
  public static let isFull = ProcessInfo.processInfo.environment["LANDLINE_FULL"] != nil

  /// The file of this run, if a scoreboard is kept.
  public static let file = ProcessInfo.processInfo.environment["LANDLINE_SCOREBOARD"].map { URL(fileURLWithPath: $0) }

  /// Appends the line with one write, so that many processes may share the file; nothing without a file.
  public func record(to file: URL? = Self.file) throws {
    guard let file else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var line = try encoder.encode(self)
    line.append(UInt8(ascii: "\n"))
    let descriptor = open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw PeerFailure("\(file.path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    let written = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written == line.count else { throw PeerFailure("\(file.path): wrote \(written) of \(line.count) bytes") }
  }
}
