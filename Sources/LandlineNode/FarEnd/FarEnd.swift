public import CallModel
package import LandlineWire
public import MediaCore
public import NIOCore
package import SIPCore

/// The other side of sandbox calls: a SIP node with media of its own on loopback, which answers as
/// ``SandboxNumber`` says, and any other number like a friendly subscriber who sends back what is heard.
///
/// A call's `x-` headers come back in every response of it. A call ends with its dialog: ports, bridge and timers are
/// given back then.
public final class FarEnd: Sendable {
  /// When things happen; the standard ones are those of the documentation.
  public struct Timing: Hashable, Sendable {
    /// From ringing to the answer of an ordinary number.
    public var answerMilliseconds: Int64 = 1_000
    /// From ringing to 408.
    public var timeoutMilliseconds: Int64 = 5_000
    /// From the answer to the BYE of the number that drops its calls.
    public var dropMilliseconds: Int64 = 2_000
    /// Longest call, from its answer.
    public var maximumCallMilliseconds: Int64 = 600_000

    /// One second to the answer, five to 408, two until a drop, and at most ten minutes of call.
    public init() {}
  }

  /// Seconds of Retry-After with 503.
  public static let retryAfterSeconds = 5
  /// Calls at a time; above: 503.
  public static let maximumCalls = 500
  /// Calls of its own at a time.
  public static let maximumPlacedCalls = 4
  /// Milliseconds that a shutdown waits for the answers to its last requests, at most.
  public static let farewellMilliseconds: Int64 = 500
  private static let farewellStep: Int64 = 10
  /// Below the ports that trunk legs of the gateway use.
  public static let standardPorts: ClosedRange<UInt16> = 12_000...15_999

  /// Of SIP over UDP.
  public let port: UInt16
  private let node: SIPNode
  private let media: MediaLoop
  private let calls: NIOLoopBound<FarEndCalls>

  private init(port: UInt16, node: SIPNode, media: MediaLoop, calls: NIOLoopBound<FarEndCalls>) {
    self.port = port
    self.node = node
    self.media = media
    self.calls = calls
  }

  /// Opens a UDP port for SIP and starts the media thread.
  /// - Parameters:
  ///   - host: A numeric address of this machine.
  ///   - mediaPorts: For RTP and RTCP; several far ends should be given different ones.
  ///   - prompts: `nil` for a library of its own.
  /// - Throws: ``InvalidValue`` for what cannot be opened, and what would be accepted.
  public static func start(
    on eventLoop: any EventLoop, host: SIPHost = .ipv4(0x7F00_0001), timing: Timing = Timing(),
    mediaPorts: ClosedRange<UInt16> = standardPorts, prompts: PromptLibrary? = nil
  ) async throws -> FarEnd {
    let library = try prompts ?? PromptLibrary()
    let calls = try await eventLoop.submit {
      NIOLoopBound(FarEndCalls(on: eventLoop, timing: timing, prompts: library), eventLoop: eventLoop)
    }.get()
    let media = try MediaLoop.start(
      MediaLoopConfiguration(app: [], trunk: [.init(bind: host, ports: mediaPorts)]), name: "far-end"
    ) { events in
      let rare = events.filter(FarEndCalls.isOfInterest)
      guard !rare.isEmpty else { return }
      eventLoop.execute { for event in rare { calls.value.happened(event) } }
    }
    do {
      let node = try await SIPNode.start(configuration(host), on: eventLoop) { node in
        calls.value.begin(node, media)
        return calls.value
      }
      return FarEnd(port: node.addresses[listener]?.port ?? 0, node: node, media: media, calls: calls)
    } catch {
      media.shutDown { _ in }
      throw error
    }
  }

  static let listener = ListenerID(1)

  private static func configuration(_ host: SIPHost) -> SIPNode.Configuration {
    var agent = UserAgentConfiguration(addresses: [])
    agent.acceptsCalls = true
    agent.limits.calls = maximumCalls
    agent.limits.retryAfterSeconds = retryAfterSeconds
    agent.productName = "Landline-FarEnd"
    return SIPNode.Configuration(
      listeners: [SIPListener(id: listener, transport: .udp, host: host, port: 0)], agent: agent)
  }

  /// Calls a number of the gateway's as a carrier would. The call is hung up when nobody reads the steps any more.
  /// - Parameter gateway: where the gateway takes SIP over UDP.
  /// - Returns: `nil` where ``maximumPlacedCalls`` are there already, or the far end has ended.
  package func call(
    _ order: InboundCallOrder, at gateway: TransportAddress
  ) async -> AsyncStream<InboundCallStep>? {
    // Bounded by the longest call, which has some steps a second.
    let (steps, continuation) = AsyncStream.makeStream(of: InboundCallStep.self)
    let (calls, eventLoop) = (calls, node.eventLoop)
    let placed = try? await eventLoop.submit {
      calls.value.place(order, at: gateway, FarEndReport(continuation))
    }.get()
    guard let handle = placed ?? nil else { return nil }
    continuation.onTermination = { _ in eventLoop.execute { calls.value.hangUp(handle) } }
    return steps
  }

  /// Hangs up every call, waits a moment for the callers to agree, then closes all sockets and ends the media thread.
  public func shutdown() async {
    let eventLoop = node.eventLoop
    // Fails only on a loop that has ended, and its calls with it.
    try? await eventLoop.submit { self.calls.value.end() }.get()
    for _ in 0..<(Self.farewellMilliseconds / Self.farewellStep) {
      guard let held = try? await node.holdings(), held["dialogs", default: 0] > 0 else { break }
      try? await Task.sleep(for: .milliseconds(Self.farewellStep))
    }
    try? await node.shutdown()
    await withCheckedContinuation { continuation in
      if !media.shutDown({ _ in continuation.resume() }) { continuation.resume() }
    }
  }

  /// What is held at present, for tests of what a finished call leaves behind.
  package func holdings() async throws -> (calls: Int, agent: [String: Int], media: MediaLoopHoldings) {
    let count = try await node.eventLoop.submit { self.calls.value.count }.get()
    let media = await withCheckedContinuation { continuation in
      if !self.media.inspect({ continuation.resume(returning: $1) }) {
        continuation.resume(returning: MediaLoopHoldings())
      }
    }
    return (count, try await node.holdings(), media)
  }
}
