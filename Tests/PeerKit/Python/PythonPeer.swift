public import Foundation
import Glibc
import Synchronization

/// A Python program of `Scripts`: a WebRTC end point, a whole app or a judge of audio. It takes commands and tells events, each a line
/// with one JSON object.
public final class PythonPeer: Sendable {
  public enum Script: String, Sendable {
    case aiortc = "aiortc_peer"
    case chromium = "chromium_peer"
    case landlineApp = "landline_app"
    case landlineCalls = "landline_calls"
    case landlineJS = "landline_js"
    case judge
    case pages = "pages_peer"
    case firefox = "firefox_peer"
    case snippet = "snippet_peer"
  }

  public let folder: TemporaryFolder
  private let process: PeerProcess
  private let input: ProcessInput
  /// How many events of each name were handed out.
  private let taken = Mutex<[String: Int]>([:])

  /// Starts a script and waits until it takes commands.
  /// - Parameters:
  ///   - arguments: as its `--help` lists them.
  ///   - seconds: how long it may run.
  public init(
    _ script: Script, _ arguments: [String] = [], seconds: Int = PeerProcess.mostSeconds
  ) async throws {
    guard let python = Self.python else { throw PeerFailure(Self.absence) }
    folder = try TemporaryFolder(script.rawValue)
    let input = try ProcessInput()
    self.input = input
    defer { input.started() }
    process = try PeerProcess(
      path: python, [Self.scripts.appendingPathComponent("\(script.rawValue).py").path] + arguments, environment: nil,
      startedIn: folder.url, in: folder, input: input.programEnd, name: script.rawValue, seconds: seconds)
    _ = try await event("ready", within: 60)
    Self.clocks.withLock { $0 = $0.filter { $0.peer != nil } + [Clock(peer: self)] }
  }

  /// Takes the environment that `LANDLINE_PEERS` names, else the one that `Deploy/peers-python` makes; `nil` where there
  /// is none.
  public static let python: String? = {
    let named = ProcessInfo.processInfo.environment["LANDLINE_PEERS"].map { URL(fileURLWithPath: $0) }
    let path = (named ?? root.appendingPathComponent(".build-peers")).appendingPathComponent("bin/python").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }()

  public static var isInstalled: Bool { python != nil }
  public static let absence = "the Python peers are absent: Deploy/peers-python makes them"

  /// Chromium is a package of the system, its driver one of the environment.
  public static var hasChromium: Bool { isInstalled && PeerProgram.chromium.isInstalled }
  public static let chromiumAbsence =
    "chromium or the Python peers are absent: apt-get install chromium, Deploy/peers-python"

  /// Firefox calls in a network namespace that its script makes, so that it has a network whatever this machine has.
  public static let hasFirefox: Bool = {
    guard isInstalled, PeerProgram.firefox.isInstalled, PeerProgram.ip.isInstalled,
      let unshare = PeerProgram.unshare.path
    else { return false }
    let trial = Process()
    trial.executableURL = URL(fileURLWithPath: unshare)
    trial.arguments = ["--net"] + (geteuid() == 0 ? [] : ["--map-root-user"]) + ["true"]
    trial.standardError = FileHandle.nullDevice
    guard (try? trial.run()) != nil else { return false }
    trial.waitUntilExit()
    return trial.terminationStatus == 0
  }()
  public static let firefoxAbsence =
    "firefox-esr or the Python peers are absent (apt-get install firefox-esr, Deploy/peers-python), "
    + "or no network namespace can be made"

  /// Where the scripts lie.
  public static let scripts = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Scripts")
  private static let root = scripts.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Writes a command.
  /// - Parameter values: strings, numbers and truth values, as the script's first lines list them.
  public func run(_ command: String, _ values: [String: any Sendable] = [:]) throws {
    var object: [String: Any] = values
    object["do"] = command
    guard input.write(try JSONSerialization.data(withJSONObject: object) + [UInt8(ascii: "\n")]) else {
      throw PeerFailure("\(process.name) does not take \(command): \(log.lastLines(5))")
    }
  }

  /// Waits for the next event of a name; each is handed out once.
  /// - Throws: ``PeerFailure`` as well when the script says that a command failed.
  @discardableResult
  public func event(_ name: String, within seconds: Double = 20) async throws -> PythonEvent {
    let deadline = Deadline(seconds: seconds)
    while true {
      let events = self.events
      let number = taken.withLock { $0[name, default: 0] }
      let matching = events.lazy.filter { $0.name == name }.dropFirst(number)
      if let found = matching.first {
        taken.withLock { $0[name] = number + 1 }
        return found
      }
      if let failed = events.first(where: { $0.name == "failed" }) {
        throw PeerFailure("\(failed.text("command") ?? ""): \(failed.text("reason") ?? "")")
      }
      let status = process.exitStatus
      guard status == nil, !deadline.hasPassed else {
        let end = status.map { "it ended with \($0)" } ?? "\(seconds) s passed"
        throw PeerFailure("no \(name), \(end); it said: \(log.lastLines(8))")
      }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Whether it still takes commands.
  public var isRunning: Bool { process.exitStatus == nil }

  /// A peer, if it is still there.
  private struct Clock {
    weak var peer: PythonPeer?
  }

  private static let clocks = Mutex<[Clock]>([])

  /// What the clocks of the peers told since a time (``Monotonic``): one entry for each that was late.
  static func lateness(from start: Double) -> [Lateness] {
    clocks.withLock { $0.compactMap(\.peer) }.compactMap { peer in
      let late = peer.events.filter { $0.name == "late" && $0.number("at") ?? 0 >= start }
      guard !late.isEmpty else { return nil }
      return Lateness(
        "\(peer.process.name)'s own clock", worstMilliseconds: late.compactMap { $0.number("worst") }.max() ?? 0,
        totalMilliseconds: late.compactMap { $0.number("total") }.reduce(0, +))
    }
  }

  /// Every event so far.
  public var events: [PythonEvent] { process.output.split(separator: "\n").compactMap { PythonEvent($0) } }

  public var log: String { process.output + process.diagnostics }

  /// A command and the event that answers it.
  public func ask(
    _ command: String, _ values: [String: any Sendable] = [:], for event: String, within seconds: Double = 30
  )
    async throws -> PythonEvent
  {
    try run(command, values)
    return try await self.event(event, within: seconds)
  }
}
