import AppProtocol
import CallEngine
import CallModel
import SIPCore

/// One life of the gateway: the real door, engine and agent, joined as the hub joins them.
final class SimulatedNode {
  enum Input {
    case door(AppDoorInput)
    case engine(EngineInput)
    case deadline
  }

  let life: Int
  let epoch: Int64
  private let startedAt: MonotonicInstant
  let door: AppDoor
  let engine: CallEngine
  let agent: UserAgent
  let media: SimulatedMedia
  var links: [AppProtocol.ConnectionID: SimulatedLink] = [:]
  var identities: [SessionID: AppIdentity] = [:]
  var inputs: [Input] = []
  var isRunning = false
  /// Does nothing until then.
  var stalledUntil: MonotonicInstant = .zero
  var wasFenced = false
  /// What an account with live calls was like at the last beat.
  var accountChanges: Int?
  var accounts: [String: (posted: Int64, revision: Int64, isLocked: Bool)] = [:]

  init(
    life: Int, epoch: Int64, _ configuration: EngineConfiguration, ports: Int, pingMilliseconds: Int64,
    draw: @escaping () -> UInt64,
    identifiers: IdentifierSource, at now: MonotonicInstant
  ) {
    self.life = life
    self.epoch = epoch
    startedAt = now
    var settings = AppDoor.Configuration(version: "simulated")
    settings.registrationsPerSecond = 1000
    // All apps of a scene are one host.
    settings.requestsPerSecond = 100_000
    settings.requestBurst = 100_000
    settings.pingMilliseconds = pingMilliseconds
    door = AppDoor(settings, draw: draw)
    engine = CallEngine(configuration, draw: draw, at: now)
    agent = UserAgent(
      UserAgent.Configuration(
        addresses: [
          AdvertisedAddress(
            listener: SimulatedTrunk.listener, transport: .udp, host: SimulatedTrunk.gatewayAddress.host,
            port: SimulatedTrunk.gatewayAddress.port)
        ]), identifiers: identifiers)
    media = SimulatedMedia(ports: ports)
  }

  /// What its own monotonic clock shows.
  func uptime(at now: MonotonicInstant) -> Int64 { now.milliseconds(since: startedAt) }

  var nextDeadline: MonotonicInstant? {
    var next = MonotonicInstant(microseconds: .max)
    if let door = door.nextDeadline { next = min(next, door) }
    if let engine = engine.nextDeadline { next = min(next, engine) }
    if let agent = agent.nextDeadline { next = min(next, agent) }
    return next == MonotonicInstant(microseconds: .max) ? nil : max(next, stalledUntil)
  }
}
