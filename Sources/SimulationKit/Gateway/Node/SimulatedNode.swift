import AppProtocol
import CallEngine
import CallModel
import NodeCore
import SIPCore

/// One life of the gateway: the core of the product, with media and connections that are simulated.
final class SimulatedNode {
  let life: Int
  private let startedAt: MonotonicInstant
  let core: NodeCore
  let media: SimulatedMedia
  var links: [AppProtocol.ConnectionID: SimulatedLink] = [:]
  /// Whether apps are let in.
  var isServing = false
  /// Does nothing until then.
  var stalledUntil: MonotonicInstant = .zero
  var wasFenced = false

  init(_ scene: GatewayScene, life: Int) {
    self.life = life
    startedAt = scene.now
    media = SimulatedMedia(ports: scene.plan.ports)
    var door = AppDoor.Configuration(version: "simulated")
    door.registrationsPerSecond = 1000
    // All apps of a scene are one host.
    door.requestsPerSecond = 100_000
    door.requestBurst = 100_000
    door.pingMilliseconds = scene.plan.pingMilliseconds
    let address = AdvertisedAddress(
      listener: SimulatedTrunk.listener, transport: .udp, host: SimulatedTrunk.gatewayAddress.host,
      port: SimulatedTrunk.gatewayAddress.port)
    var own = scene.random.fork()
    core = NodeCore(
      NodeConfiguration(
        node: GatewayScene.nodeID,
        environments: [NodeEnvironment(name: GatewayScene.environment, ledger: "simulated")],
        settings: scene.settings, agent: UserAgentConfiguration(addresses: [address]), door: door),
      draw: { own.next() }, identifiers: scene.newIdentifiers(), at: scene.time)
  }

  /// What its own monotonic clock shows when that of the scene shows `milliseconds`.
  func uptime(_ milliseconds: Int64) -> Int64 { milliseconds - startedAt.milliseconds }

  var nextDeadline: MonotonicInstant? { core.nextDeadline.map { max($0, stalledUntil) } }
}
