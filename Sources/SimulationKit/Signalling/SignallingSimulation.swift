import CallModel
import SIPCore

/// Calls between two user agents over a network that loses, repeats, delays and damages datagrams, in virtual time and
/// decided by one seed. When everything is at rest, both sides must tell the same story.
public enum SignallingSimulation {
  /// One pair of agents.
  /// - Throws: ``SignallingViolation``, with the trace of the call concerned.
  public static func run(
    seed: UInt64, calls: Int = SignallingOptions.defaultChunk, options: SignallingOptions = .calm
  ) throws(SignallingViolation) -> SignallingReport {
    let start = ContinuousClock.now
    let scene = SignallingScene(seed: seed, calls: calls, options: options, isTraced: false)
    scene.run()
    if scene.violation != nil {
      // The same again, this time writing down what happens.
      let again = SignallingScene(seed: seed, calls: calls, options: options, isTraced: true)
      again.run()
      throw again.finding ?? scene.finding
        ?? SignallingViolation(
          seed: seed, calls: calls, atMilliseconds: 0, call: nil, detail: "a run that cannot be repeated", trace: [])
    }
    var report = scene.report
    let elapsed = start.duration(to: .now).components
    report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    return report
  }

  /// As many pairs of agents as the calls need; the first has the seed given, each further one the seed after.
  public static func run(
    seed: UInt64, calls: Int, chunk: Int, options: SignallingOptions, progress: (Int) -> Void = { _ in }
  ) throws(SignallingViolation) -> SignallingReport {
    let total = min(max(calls, 1), SignallingOptions.maximumCalls)
    let size = min(max(chunk, 1), total)
    var sum = SignallingReport(seed: seed)
    var done = 0
    var next = seed
    while done < total {
      let count = min(size, total - done)
      sum.add(try run(seed: next, calls: count, options: options))
      done += count
      next &+= 1
      progress(done)
    }
    return sum
  }
}
