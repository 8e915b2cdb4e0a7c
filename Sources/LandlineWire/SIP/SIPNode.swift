import CallModel
public import NIOCore
public import SIPCore

/// One shard of SIP: one event loop with its sockets, its timer and its ``UserAgent``.
///
/// Everything happens on the loop: a datagram, a message of a stream, a command or a due timer goes into the agent, and
/// the effects that come out are performed in order before the next input. The node may be used from any thread.
public final class SIPNode: Sendable {
  /// What a node is started with.
  public struct Configuration: Sendable {
    /// At least one, each with an id of its own.
    public var listeners: [SIPListener]
    /// ``UserAgentConfiguration/addresses`` are filled in from the listeners.
    public var agent: UserAgentConfiguration
    /// How servers are judged that streams of ours lead to.
    public var tlsClients: TLSClientPolicies
    /// Bounds of what peers could make grow, for the whole node.
    public var limits: TransportLimits
    /// Unique among the nodes of a process.
    public var shard: UInt16

    /// Nothing is checked before the start. Only listeners are needed; the agent's addresses come from them.
    public init(
      listeners: [SIPListener], agent: UserAgentConfiguration = UserAgentConfiguration(addresses: []),
      tlsClients: TLSClientPolicies = TLSClientPolicies(), limits: TransportLimits = .standard,
      shard: UInt16 = 0
    ) {
      self.listeners = listeners
      self.agent = agent
      self.tlsClients = tlsClients
      self.limits = limits
      self.shard = shard
    }
  }

  /// As given at the start; policies that a reload brought do not show here.
  public let configuration: Configuration
  private let wire: SIPWire
  private let shard: NIOLoopBound<SIPShard>

  private init(_ configuration: Configuration, _ wire: SIPWire, _ shard: NIOLoopBound<SIPShard>) {
    self.configuration = configuration
    self.wire = wire
    self.shard = shard
  }

  /// The delegate is called on it, and on no other.
  public var eventLoop: any EventLoop { wire.eventLoop }
  /// What each listener is bound to, with the port that the system chose where 0 was asked for.
  public var addresses: [ListenerID: TransportAddress] { wire.addresses }
  /// What peers are told in Via and Contact, one for each listener.
  public var advertisedAddresses: [AdvertisedAddress] { wire.advertisedAddresses }

  /// Reads certificates and opens all listeners. Blocks for files: call it before calls are running.
  /// - Parameter makeDelegate: Called once, on the loop, before the first event.
  /// - Throws: ``InvalidValue`` with the rules of listeners (`listener.…`) and certificates (`tls.…`).
  public static func start(
    _ configuration: Configuration, on eventLoop: any EventLoop, identifiers: IdentifierSource = .system,
    locator: any SIPLocator = LiteralLocator(),
    makeDelegate: @escaping @Sendable (SIPNode) -> any SIPNodeDelegate
  ) async throws -> SIPNode {
    let wire = try await SIPWire.open(configuration, identifiers: identifiers, on: eventLoop)
    return try await eventLoop.submit {
      var agent = configuration.agent
      agent.addresses = wire.advertisedAddresses
      let shard = SIPShard(agent, wire.transports.value, identifiers: identifiers, locator: locator)
      let node = SIPNode(configuration, wire, NIOLoopBound(shard, eventLoop: eventLoop))
      shard.start(node, makeDelegate(node))
      return node
    }.get()
  }

  /// Hands a command to the agent. On the loop, and not from inside a call of the delegate, its effects are performed
  /// when this returns.
  public func execute(_ command: UserAgentCommand) {
    if eventLoop.inEventLoop {
      shard.value.handle(command)
    } else {
      eventLoop.execute { self.shard.value.handle(command) }
    }
  }

  /// Reads all certificate files again. Handshakes from now on use the new ones; open connections stay as they are. When
  /// a file cannot be used, everything stays as it was.
  /// - Parameter tlsClients: Takes the place of the policies where given.
  /// - Throws: ``InvalidValue`` with rules `tls.…`.
  public func reloadCertificates(tlsClients: TLSClientPolicies? = nil) async throws {
    try await wire.reloadCertificates(tlsClients: tlsClients)
  }

  /// Counted since the start.
  /// - Throws: When the event loop has ended.
  public func statistics() async throws -> TransportStatistics {
    try await wire.statistics()
  }

  /// Counters of the node's ``UserAgent``.
  /// - Throws: When the event loop has ended.
  public func counters() async throws -> UserAgentCounters {
    try await eventLoop.submit { self.shard.value.counters }.get()
  }

  /// What the agent holds, for tests of what a finished call leaves behind.
  package func holdings() async throws -> [String: Int] {
    try await eventLoop.submit { self.shard.value.holdings }.get()
  }

  /// Closes every socket and stops the timer; calls that are up are not ended. Done when the last socket is closed.
  public func shutdown() async throws {
    try await eventLoop.flatSubmit { self.shard.value.shutdown() }.get()
  }
}
