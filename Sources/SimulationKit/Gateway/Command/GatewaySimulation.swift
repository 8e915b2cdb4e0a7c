import Foundation

/// The whole gateway in virtual time, decided by one seed: real cores, simulated clock, network, disk, carriers and people.
public enum GatewaySimulation {
  /// Virtual hours that a run may have; others are taken as the nearest of these.
  public static let hoursAccepted = 1...72

  /// One seed.
  /// - Throws: ``GatewayViolation``, with what led there.
  public static func run(
    seed: UInt64, hours: Int = GatewayReport.defaultHours, canary: GatewayCanary? = nil
  ) throws(GatewayViolation) -> GatewayReport {
    let start = ContinuousClock.now
    let processorStart = clock()
    let scene = try scene(seed, hours, canary, isTraced: false)
    scene.run()
    if let finding = scene.finding {
      // The same again, this time writing down what happens.
      let again = try self.scene(seed, hours, canary, isTraced: true)
      again.run()
      throw again.finding ?? finding
    }
    var report = scene.finalReport
    let elapsed = start.duration(to: .now).components
    report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
    // A million a second, whatever the resolution (POSIX clock()).
    report.processorSeconds = Double(clock() - processorStart) / 1e6
    return report
  }

  private static func scene(
    _ seed: UInt64, _ hours: Int, _ canary: GatewayCanary?, isTraced: Bool
  ) throws(GatewayViolation) -> GatewayScene {
    let hours = min(max(hours, hoursAccepted.lowerBound), hoursAccepted.upperBound)
    do {
      return try GatewayScene(seed: seed, hours: hours, canary: canary, isTraced: isTraced)
    } catch {
      throw GatewayViolation(
        seed: seed, hours: hours, canary: canary, atMilliseconds: 0, rule: "set-up", detail: "\(error)", trace: [])
    }
  }
}
