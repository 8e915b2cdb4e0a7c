import CallModel
import Foundation
import LandlineWire
import MediaCore
import PeerKit
import SecureTransport
import Synchronization

/// A SIP node and a media loop of ours on loopback, as the gateway joins them, with everything both reported.
final class GatewayUnderTest: Sendable {
  static let host = SIPHost.ipv4(0x7F00_0001)
  /// Below the ports that peers are given.
  private static let trunkPorts: ClosedRange<UInt16> = 16_400...19_999

  let node: NodeUnderTest
  let loop: MediaLoop
  let certificate: DTLSCertificate
  let log: MediaLog
  private let numbers = Mutex<UInt64>(0)

  private init(node: NodeUnderTest, loop: MediaLoop, certificate: DTLSCertificate, log: MediaLog) {
    self.node = node
    self.loop = loop
    self.certificate = certificate
    self.log = log
  }

  private static func start(plantedLossPerThousand: Int) async throws -> GatewayUnderTest {
    let log = MediaLog()
    var configuration = MediaLoopConfiguration(
      app: [.init(bind: host, port: 0)], trunk: [.init(bind: host, ports: trunkPorts)])
    configuration.plantedLossPerThousand = plantedLossPerThousand
    let loop = try MediaLoop.start(configuration) { log.append($0) }
    return GatewayUnderTest(
      node: try await NodeUnderTest.start(), loop: loop, certificate: try DTLSCertificate(), log: log)
  }

  /// The port that apps talk to.
  var appPort: UInt16 { loop.appPorts[0].bound.port }

  /// Opens a bridge with an app leg on its left and a trunk leg on its right; neither has agreed on anything yet.
  func open(
    _ terms: BridgedCall.Terms = BridgedCall.Terms(),
    _ change: @escaping @Sendable (inout MediaLegConfiguration) -> Void = { _ in }
  ) async throws -> BridgedCall {
    let number = numbers.withLock { number in
      number += 1
      return number
    }
    return try await BridgedCall(self, MediaBridge.Identifier(rawValue: number), terms, change)
  }

  /// Runs `body` with a gateway, and shows that nothing is left of it afterwards.
  /// - Parameter plantedLossPerThousand: a fault of the bridge, for a case that has to find it.
  static func run<Value: Sendable>(
    plantedLossPerThousand: Int = 0, _ body: (GatewayUnderTest) async throws -> Value
  ) async throws -> Value {
    let gateway = try await start(plantedLossPerThousand: plantedLossPerThousand)
    let value: Value
    do { value = try await body(gateway) } catch {
      await gateway.stop()
      throw PeerFailure("\(error); bridge: \(gateway.log.summary); node: \(gateway.node.summary)")
    }
    try await gateway.finish()
    return value
  }

  /// Every call is over: none of it is held by the agent or the loop, and the loop closes all it had open. What the agent
  /// keeps for repeated messages (RFC 3261 section 17) has its own time.
  private func finish() async throws {
    let held = try await node.node.holdings()
    for kind in ["live", "dialogs", "exchanges", "exchangesOfCalls", "locations"] {
      try require(held[kind] == 0, "no \(kind) are left in the agent; it holds \(held)")
    }
    let ports = loop.appPorts.map(\.bound.port) + log.trunkPorts
    let idle = try await Deadline(seconds: 5).first("idle media loop") {
      let holdings = await self.holdings()
      return holdings.isIdle ? holdings : nil
    }
    try require(idle.quarantinedPairs == log.trunkPorts.count / 2, "the trunk ports rest: \(idle)")
    let left = await stop()
    try require(left.isIdle && left.descriptors == 0, "nothing is open: \(left)")
    try await LeftOvers(ports: ports).areNone()
  }

  func holdings() async -> MediaLoopHoldings {
    await withCheckedContinuation { continuation in
      if !loop.inspect({ continuation.resume(returning: $1) }) { continuation.resume(returning: MediaLoopHoldings()) }
    }
  }

  @discardableResult
  private func stop() async -> MediaLoopHoldings {
    await node.stop()
    return await withCheckedContinuation { continuation in
      if !loop.shutDown({ continuation.resume(returning: $0) }) { continuation.resume(returning: MediaLoopHoldings()) }
    }
  }
}

/// What the bridges of a loop told, in order.
final class MediaLog: Sendable {
  private let seen = Mutex<[MediaLoopEvent]>([])
  private let reserved = Mutex<[UInt16]>([])

  func append(_ events: [MediaLoopEvent]) { seen.withLock { $0 += events } }
  func note(_ ports: TrunkPorts) {
    reserved.withLock { $0 += [ports.address.port] + (ports.controlAddress.map { [$0.port] } ?? []) }
  }

  var events: [MediaLoopEvent] { seen.withLock { $0 } }
  var trunkPorts: [UInt16] { reserved.withLock { $0 } }

  /// All but the figures of each second.
  var summary: String {
    let texts = events.compactMap { event -> String? in
      if case .statistics = event.event { return nil }
      return String(describing: event.event)
    }
    return texts.isEmpty ? "nothing" : texts.joined(separator: " | ")
  }
}
