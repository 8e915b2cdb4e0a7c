public import Foundation

/// The script that judges sound, started once for all cases of a run: its speech model takes seconds to load, and its start
/// beside a call would be heard in it.
public actor SoundJudge {
  public static let shared = SoundJudge()
  /// Longer than any group of tests.
  private static let mostSeconds = 1_800

  private var peer: PythonPeer?
  /// One question after the other.
  private var last: Task<Void, Never>?

  /// Starts it and loads its model, before anybody listens.
  public func prepare() async throws { _ = try await ask("prepare", [:]) }

  /// Ends it; the next question starts it anew.
  public func end() { peer = nil }

  /// PESQ, delay, correlation and the share of the start that is there.
  public func quality(of recording: URL, reference: URL) async throws -> PythonEvent {
    try await ask("quality", ["recording": recording.path, "reference": reference.path])
  }

  /// The words, and the share of the expected ones among them.
  public func transcript(of recording: URL, expected: String) async throws -> PythonEvent {
    try await ask("transcript", ["recording": recording.path, "expected": expected])
  }

  /// The tones of telephone digits.
  public func digits(in recording: URL) async throws -> PythonEvent {
    try await ask("digits", ["recording": recording.path])
  }

  /// dB of each tone in the last seconds; 0 is a full-scale sine.
  public func levels(in recording: URL, of frequencies: [Double], seconds: Int) async throws -> [Double] {
    let judged = try await ask(
      "levels", ["recording": recording.path, "frequencies": frequencies, "seconds": seconds])
    return (0..<judged.count("levels")).map { judged.number("levels.\($0)") ?? -.infinity }
  }

  private func ask(_ command: String, _ values: [String: any Sendable]) async throws -> PythonEvent {
    let before = last
    let question = Task {
      await before?.value
      return try await running().ask(command, values, for: "judged", within: 60)
    }
    last = Task { _ = await question.result }
    return try await question.value
  }

  private func running() async throws -> PythonPeer {
    if let peer, peer.isRunning { return peer }
    let started = try await PythonPeer(.judge, seconds: Self.mostSeconds)
    peer = started
    return started
  }
}
