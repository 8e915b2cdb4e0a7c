import CallModel
import Glibc
import LandlineWire
import MediaCore
import PeerKit
import SDPCore
import SecureTransport
import Synchronization
import Testing

/// How calls and loops begin and end.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct MediaLoopLifeTests {
  /// Two sockets a call are more than many systems give a process that does not ask.
  private static func allowDescriptors(_ count: rlim_t) -> Bool {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0, limit.rlim_max >= count else { return false }
    limit.rlim_cur = max(limit.rlim_cur, count)
    return setrlimit(resource, &limit) == 0
  }

  @Test(.enabled(if: allowDescriptors(4_096), "4096 open files are not allowed here"))
  func aThousandCallsLeaveNothing() async throws {
    let loop = try ProbeLoop {
      $0.quarantineMilliseconds = 0
      $0.quarantineLimitMilliseconds = 0
    }
    let identifiers = 0..<1_000
    let beat = try MediaPeer()
    for number in identifiers {
      let ports = try await loop.reserve(number)
      try await loop.open(number, .init(beat: (10_000, ports.port, beat.address)))
      loop.route("call\(number)", to: number)
    }
    let busy = try await loop.inspect().holdings
    #expect(busy.bridges == 1_000 && busy.trunkPairs == 1_000 && busy.deadlines == 1_000)
    #expect(busy.descriptors == 2_003)
    #expect(boundPorts(on: loop.host).count == 2_001)
    for number in identifiers { loop.close(number) }
    try await loop.events.wait(for: "all ends", count: 1_000) { $0.event == .closed }
    try await eventually("the ports are free") { try await loop.inspect().holdings.quarantinedPairs == 0 }
    let idle = try await loop.inspect().holdings
    #expect(idle.isIdle && idle.descriptors == 3 && idle.freePairs == 8_192)
    #expect(boundPorts(on: loop.host) == [loop.app.port])
    #expect(loop.seen.events.count { if case .ended = $0 { true } else { false } } == 1_000)
    try await loop.finish()
  }

  @Test func whatIsDueIsDone() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    let ports = try await loop.reserve(7)
    // From before the first beat: those that come while this task waits for its turn stand in the socket.
    let start = ContinuousClock.now
    try await loop.open(7, .init(beat: (5, ports.port, peer.address)))
    for _ in 0..<20 { #expect(try await peer.receive("beat") == [7]) }
    #expect(ContinuousClock.now - start >= .milliseconds(80))
    loop.close(7)
    try await loop.closed(7)
    #expect(try await loop.inspect().holdings.deadlines == 0)
    try await loop.finish()
  }

  @Test func commandsAreCarriedOutInOrder() async throws {
    let loop = try ProbeLoop()
    let identifier = MediaBridge.Identifier(1)
    try await loop.open(1)
    #expect(loop.thread.post(.apply(identifier, .mute(.near, true))))
    #expect(loop.thread.post(.apply(identifier, .sendDigits(.far, codes: [1], milliseconds: 100, pause: 50))))
    #expect(loop.thread.post(.apply(identifier, .close)))
    #expect(loop.thread.post(.apply(identifier, .mute(.near, false))))
    try await loop.closed(1)
    #expect(
      Array(loop.seen.events.prefix(3)) == [.command(1, "mute"), .command(1, "sendDigits"), .command(1, "close")])
    #expect(try await loop.inspect().statistics.lateCommands == 1)
    loop.close(1)
    #expect(try await loop.inspect().statistics.lateCommands == 2)
    #expect(loop.events.events.count == 1, "the end is told once")
    try await loop.finish()
  }

  @Test func aBridgeThatEndsByItselfIsReleased() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    let ports = try await loop.reserve(1)
    try await loop.open(1, .init(closesItself: true))
    for _ in 0..<5 { peer.send([9], to: ports.address) }
    #expect(try await peer.receive("last words") == [1, 9])
    try await loop.closed(1)
    let holdings = try await loop.inspect().holdings
    #expect(holdings.isIdle && holdings.quarantinedPairs == 1)
    #expect(loop.seen.events.count { if case .datagram = $0 { true } else { false } } == 1)
    try await loop.finish()
  }

  @Test func aBridgeThatDoesNotEndIsTakenAway() async throws {
    let loop = try ProbeLoop { $0.closeTimeoutMilliseconds = 30 }
    let ports = try await loop.reserve(1)
    try await loop.open(1, .init(ignoresClose: true))
    loop.close(1)
    await #expect(throws: MediaLoopFailure.duplicate) { try await loop.reserve(1) }
    try await loop.closed(1)
    let (statistics, holdings) = try await loop.inspect()
    #expect(statistics.bridgesForced == 1)
    #expect(holdings.isIdle && holdings.quarantinedPairs == 1)
    #expect(ports.address.port % 2 == 0)
    try await loop.finish()
  }

  @Test func aCallWithoutABridgeIsClosedAsWell() async throws {
    let loop = try ProbeLoop()
    _ = try await loop.reserve(1)
    loop.route("only", to: 1)
    loop.close(1)
    try await loop.closed(1)
    #expect(try await loop.inspect().holdings.isIdle)
    try await loop.finish()
  }

  /// Calls that go on when the loop ends are ended, and say so.
  @Test func shutDownEndsCalls() async throws {
    let loop = try ProbeLoop()
    let peer = try MediaPeer()
    for number in 1...20 {
      let ports = try await loop.reserve(number)
      try await loop.open(number, .init(ignoresClose: number % 2 == 0, beat: (1, ports.port, peer.address)))
    }
    try await loop.finish()
    for number in 1...20 { try await loop.closed(number) }
    #expect(loop.events.events.count == 20)
    #expect(loop.seen.events.count { if case .ended = $0 { true } else { false } } == 20)
    await #expect(throws: MediaLoopFailure.stopped) { try await loop.reserve(21) }
    #expect(!loop.thread.post(.close(MediaBridge.Identifier(1))))
  }

  @Test func aLoopThatNobodyHoldsEnds() async throws {
    let host = SIPHost.ownLoopback()
    var loop: ProbeLoop? = try ProbeLoop(on: host)
    _ = try await loop?.reserve(1)
    #expect(boundPorts(on: host).count == 3)
    loop = nil
    try await eventually("its sockets are closed") { boundPorts(on: host).isEmpty }
  }

  /// While the loop is held up, commands gather to the bound; what ends a call is taken all the same.
  @Test func waitingCommandsAreBounded() async throws {
    let loop = try ProbeLoop { $0.waitingCommands = 10 }
    try await loop.open(1)
    let shared = Gate()
    let isHeld = await withCheckedContinuation { continuation in
      let isTaken = loop.thread.post(
        .inspect { _, _ in
          continuation.resume(returning: true)
          shared.wait()
        })
      #expect(isTaken)
    }
    #expect(isHeld)
    let identifier = MediaBridge.Identifier(1)
    let taken = (0..<20).count { _ in loop.thread.post(.apply(identifier, .mute(.near, true))) }
    #expect(taken == 10)
    loop.close(1)
    shared.open()
    try await loop.closed(1)
    let (statistics, _) = try await loop.inspect()
    #expect(statistics.refusedCommands == 10)
    #expect(loop.seen.events.count { $0 == .command(1, "mute") } == 10)
    try await loop.finish()
  }

  // MARK: Configuration

  typealias Change = @Sendable (inout MediaLoopConfiguration) -> Void

  static let mistakes: [(String, Change)] = [
    ("media.address", { $0.app[0].bind = .name("media.example") }),
    ("media.address", { $0.trunk[0].advertised = .name("media.example") }),
    ("media.ports", { $0.trunk[0].ports = 20_001...20_002 }), ("media.ports", { $0.trunk[0].ports = 1000...1999 }),
    ("media.dscp", { $0.differentiatedServices = 64 }), ("media.limits", { $0.maximumBridges = 0 }),
    ("media.limits", { $0.waitingCommands = 0 }), ("media.times", { $0.quarantineLimitMilliseconds = 1 }),
    ("media.times", { $0.maximumTickMicroseconds = 50_000 }), ("media.buffers", { $0.appBufferBytes = 0 }),
    ("media.bind", { $0.app[0].bind = .ipv4(0xC000_0201) }),
    ("media.interfaces", { $0.app = Array(repeating: $0.app[0], count: 17) }),
  ]

  @Test(arguments: MediaLoopLifeTests.mistakes)
  func whatCannotBeIsRefused(_ rule: String, _ change: @Sendable (inout MediaLoopConfiguration) -> Void) {
    var configuration = ProbeLoop.configuration(.ownLoopback())
    change(&configuration)
    let error = #expect(throws: InvalidValue.self) { try MediaLoop.start(configuration) { _ in } }
    #expect(error?.rule == rule)
  }

  @Test func anAppPortThatIsTakenIsRefused() async throws {
    let host = SIPHost.ownLoopback()
    let other = try MediaPeer(on: host)
    let error = #expect(throws: InvalidValue.self) {
      try ProbeLoop(on: host) { $0.app[0].port = other.address.port }
    }
    #expect(error?.rule == "media.bind")
    #expect(error?.problem.contains("in use") == true)
  }

  @Test func describesTheAdvertisedAddress() async throws {
    let shown = SIPHost.ipv4(0xC000_0207)
    let loop = try ProbeLoop {
      $0.app[0].advertised = shown
      $0.trunk[0].advertised = shown
    }
    #expect(loop.thread.appPorts[0].address == MediaAddress(shown, unchecked: loop.app.port))
    let ports = try await loop.reserve(1)
    #expect(ports.address.host == shown)
    #expect(boundPorts(on: loop.host).contains(ports.address.port))
    try await loop.finish()
  }
}

/// Holds a thread up until it is opened.
private final class Gate: Sendable {
  private let isOpen = Mutex(false)
  func open() { isOpen.withLock { $0 = true } }
  func wait() { while !isOpen.withLock({ $0 }) { usleep(100) } }
}
