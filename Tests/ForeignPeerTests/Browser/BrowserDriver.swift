import Foundation
import PeerKit
import Testing

/// Ends the shared browser and the shared judge of sound behind the last case of a suite.
struct SharedPeersEndTrait: SuiteTrait, TestScoping {
  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    do {
      try await function()
    } catch {
      await BrowserDriver.shared.end()
      await SoundJudge.shared.end()
      throw error
    }
    await BrowserDriver.shared.end()
    await SoundJudge.shared.end()
  }
}

/// One browser for all cases, since starting one takes as long as some of them: people in it have contexts of their own.
actor BrowserDriver {
  static let shared = BrowserDriver()
  /// What the microphone hears again and again.
  static let speech = "Please hold the line."
  /// It serves a whole suite, which may take as long as its cases may be repeated.
  private static let mostSeconds = 1_800
  private static let before = 0.3
  private static let after = 1.2

  private var current: (peer: PythonPeer, folder: TemporaryFolder, speech: Speech)?
  private var people = 0

  /// Runs a case, and leaves a browser behind that another can use: the one of a failed case is not.
  nonisolated func run<Value: Sendable>(_ body: (PythonPeer) async throws -> Value) async throws -> Value {
    let peer = try await started()
    do { return try await body(peer) } catch {
      await drop()
      throw error
    }
  }

  private func started() async throws -> PythonPeer {
    if let current, current.peer.isRunning { return current.peer }
    let folder = try TemporaryFolder("browser")
    let speech = try await Speech(Self.speech, in: folder)
    let microphone = folder.url.appendingPathComponent("microphone.wav")
    try SoundFile(speech.file).padded(before: Self.before, after: Self.after).write(to: microphone)
    let peer = try await PythonPeer(.pages, ["--microphone", microphone.path], seconds: Self.mostSeconds)
    current = (peer, folder, speech)
    return peer
  }

  private func drop() { current = nil }

  /// Ends the browser. Another case would start it anew.
  func end() {
    current = nil
  }

  /// A name that nobody in the browser has had.
  func name() -> String {
    people += 1
    return "person\(people)"
  }

  /// What the microphone hears, and how long one turn of it takes.
  func spoken() throws -> (file: URL, seconds: Double) {
    guard let current else { throw PeerFailure("no browser runs") }
    return (current.speech.file, try SoundFile(current.speech.file).seconds + Self.before + Self.after)
  }
}
