import CallModel
import Foundation
import LandlineConfiguration
import LandlineNode
import LandlineWire
import RoutingCore

extension Console {
  /// The trunk test as the gateway's own pages run it: nothing is registered, and nobody is called who was not named.
  static func testTrunk(
    _ trunk: TrunkConfiguration, _ order: TrunkTestOrder, _ listeners: [SIPListener],
    tell: @escaping @Sendable (TrunkTestStep) -> Void
  ) async throws -> TrunkTestStep.Outcome {
    var settings = TrunkTest.Settings(
      trunk: trunk, name: trunk.trunk.name, seconds: Int(Date().timeIntervalSince1970))
    settings.listeners = listeners
    settings.number = order.number
    settings.caller = order.caller ?? TrunkTest.usualCaller(of: trunk)
    let clock = ContinuousClock()
    var last = clock.now
    let test = TrunkTest(settings) { step in
      let now = clock.now
      tell(TrunkTestStep(step, milliseconds: (now - last).milliseconds))
      last = now
    }
    return TrunkTestStep.Outcome(try await test.run())
  }
}

extension TrunkTestStep {
  fileprivate init(_ step: TrunkStep, milliseconds: Int64) {
    let place = step.target.map { " (\($0))" } ?? ""
    self.init(
      step: step.kind.rawValue, outcome: Outcome(step.verdict),
      text: ([step.found + place] + step.details).joined(separator: "\n"), fix: step.fix, milliseconds: milliseconds)
  }
}

extension TrunkTestStep.Outcome {
  fileprivate init(_ verdict: TrunkStep.Verdict) {
    self =
      switch verdict {
      case .ok: .ok
      case .warn: .warning
      case .fail: .failed
      case .skip: .skipped
      }
  }
}

extension Duration {
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
