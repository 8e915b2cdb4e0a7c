import Synchronization

/// Runs cases that listen in real time: ``ListeningJudge`` says what each try has shown.
public enum ListeningCase {
  /// What one try heard that was not good.
  final class Attempt: Sendable {
    @TaskLocal static var current: Attempt?
    let missed = Mutex<(heard: Heard, control: Control?)?>(nil)
  }

  /// The same peers without the gateway.
  public typealias Control = @Sendable () async throws -> Heard

  /// Judges what a case heard. Where that is not good, the case ends with an error, and ``run(_:_:)`` decides what follows.
  /// - Parameter control: run only when the verdict depends on it.
  public static func judge(_ heard: Heard, control: Control? = nil) throws {
    guard ListeningJudge.verdict(heard, control: nil, repeats: 0) != .good else { return }
    Attempt.current?.missed.withLock { $0 = (heard, control) }
    throw PeerFailure("heard: \(heard.figures.map(\.description).joined(separator: ", "))")
  }

  /// What one try came to.
  public struct Outcome: Sendable {
    /// What the case told, or why it failed.
    public var result: Result<String, any Error>
    /// On what was heard; `nil` where that was good, or where the case failed by something else.
    public var verdict: ListeningJudge.Verdict?
  }

  /// One try, with a control behind it when the verdict depends on that.
  public static func attempt(
    repeats: Int = 0, _ body: @Sendable () async throws -> String
  ) async -> Outcome {
    let attempt = Attempt()
    let result: Result<String, any Error>
    do {
      result = .success(try await Attempt.$current.withValue(attempt) { try await body() })
    } catch { result = .failure(error) }
    guard case .failure(let error) = result else { return Outcome(result: result, verdict: nil) }
    let late = (error as? PeerFailure)?.wasLate == true
    guard let (heard, control) = attempt.missed.withLock({ $0 }) ?? (late ? (signallingWasLate, nil) : nil) else {
      return Outcome(result: result, verdict: nil)
    }
    var compared: Heard?
    if let control, ListeningJudge.needsControl(heard, repeats: repeats) {
      do { compared = try await control() } catch {
        // Peers that do not even come together by themselves.
        compared = Heard([.init("a call (\(error))", nil, atLeast: 1)], seconds: 0)
      }
    }
    return Outcome(result: result, verdict: ListeningJudge.verdict(heard, control: compared, repeats: repeats))
  }

  /// Runs a case until it is good or has failed.
  /// - Parameter printsRepeats: whether standard output gets a line for each, which Deploy/test counts.
  /// - Returns: what it told, and why it was repeated if it was.
  public static func run(
    _ name: String, printsRepeats: Bool = true, _ body: @Sendable () async throws -> String
  ) async throws -> String {
    var reasons: [String] = []
    while true {
      let outcome = await attempt(repeats: reasons.count, body)
      switch (outcome.result, outcome.verdict) {
      case (.success(let text), _):
        return reasons.isEmpty ? text : "\(text); repeated: \(reasons.joined(separator: "; then: "))"
      case (_, .again(let reason)):
        reasons.append(reason)
        if printsRepeats { print("↻ \(name): repeated, \(reason)") }
      case (.failure(let error), .failed(let reason)): throw PeerFailure("\(reason)\n\(error)")
      case (.failure(let error), _): throw error
      }
    }
  }

  /// A message had to be sent twice, so somebody was late by T1 (RFC 3261 section 17) at least.
  private static let signallingWasLate = Heard(
    [.init("messages sent once", 0, atLeast: 1)],
    lateness: [Lateness("signalling", worstMilliseconds: 500, totalMilliseconds: 500)], seconds: 1)
}
