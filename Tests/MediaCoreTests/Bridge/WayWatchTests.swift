import CallModel
import MediaCore
import SDPCore
import SecureTransport
import Testing

/// Whether anything comes from an app at all.
@Suite struct WayWatchTests {
  private static func told(_ network: EndpointNetwork) -> [String] {
    network.bridgeEvents.compactMap {
      switch $0 {
      case .wayLost(.near, let milliseconds): (25_000...30_000).contains(milliseconds) ? "lost" : "lost too soon"
      case .wayBack(.near): "back"
      case .wayLost, .wayBack: "of a leg that is no app"
      default: nil
      }
    }
  }

  @Test func checksAloneProveTheWay() throws {
    let network = try EndpointNetwork(.pcmu, .pcmu, samplingRate: 8_000)
    try network.join()
    network.lost = 100
    network.run(milliseconds: 70_000)
    #expect(network.bridgeEvents.contains(.silence(.near)))
    #expect(WayWatchTests.told(network) == [])
  }

  @Test func itIsLostWithConsentAndBackWithARestart() throws {
    let network = try EndpointNetwork(.pcmu, .pcmu, samplingRate: 8_000)
    try network.join()
    network.run(milliseconds: 1_000)
    network.isLeftCut = true
    network.run(milliseconds: 20_000)
    network.isLeftCut = false
    network.run(milliseconds: 10_000)
    #expect(WayWatchTests.told(network) == [], "a break that consent outlasts is none")
    network.isLeftCut = true
    network.run(milliseconds: 60_000)
    #expect(WayWatchTests.told(network) == ["lost"])
    network.isLeftCut = false
    network.run(milliseconds: 1_000)
    #expect(WayWatchTests.told(network) == ["lost"], "the old credentials open nothing")
    try network.restartICE()
    network.run(milliseconds: 2_000)
    #expect(WayWatchTests.told(network) == ["lost", "back"])
    // Sound that stays away behind it is told once more.
    let silences = network.bridgeEvents.count { $0 == .silence(.near) }
    network.lost = 100
    network.run(milliseconds: 10_000)
    #expect(network.bridgeEvents.count { $0 == .silence(.near) } == silences + 1)
    #expect(WayWatchTests.told(network) == ["lost", "back"])
  }

  @Test func anAppThatClosesItsAssociationHasNoWay() throws {
    let network = try EndpointNetwork(.pcmu, .pcmu, samplingRate: 8_000)
    try network.join()
    network.run(milliseconds: 1_000)
    network.handle(.close, .left)
    network.run(milliseconds: 1_000)
    let closed = try #require(network.bridgeEvents.firstIndex(of: .transport(.near, .closedByPeer)))
    guard case .wayLost(.near, let milliseconds) = network.bridgeEvents[closed + 1] else {
      Issue.record("told is \(network.bridgeEvents[closed...])")
      return
    }
    #expect(milliseconds < 100)
  }
}
