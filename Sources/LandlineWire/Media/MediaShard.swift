import CLandlineSockets
package import CallModel
package import MediaCore
import SecureTransport

/// Everything that one media thread owns: sockets, bridges, who belongs to which, and what is due when.
///
/// ```
///  app port ──recvmmsg──▶ address ─▶ slot ┐                      ┌─ sendmmsg ──▶ app port
///                         STUN: user fragment ├─▶ bridge ─▶ outbox ┤
///  trunk port ─recvmmsg─▶ port ───▶ slot  ┘      │  ▲            └─ sendto ────▶ trunk port
///                                       events ◀─┘  └─ due deadlines, commands
/// ```
///
/// A call has one slot from its first command to its end, and all it holds is noted there. Nothing here is locked, and
/// nothing is allocated for a packet.
package final class MediaShard<Bridge: LoopBridge> {
  package typealias Identifier = MediaBridge.Identifier

  /// Datagrams read with one system call from an app port.
  static var batchSize: Int { 64 }
  /// The same from a trunk port, which serves one stream.
  static var trunkBatchSize: Int32 { 8 }
  /// Batches read from one app port before the others have their turn.
  static var batchesInTurn: Int { 8 }
  /// Datagrams in the outbox that are sent without waiting for more.
  static var flushSize: Int { 64 }
  /// Descriptors with input that are told at a time.
  static var pollSize: Int32 { 256 }

  let configuration: MediaLoopConfiguration
  let mailbox: LoopMailbox<LoopCommand<Bridge>>
  let gauge: LoopGauge
  let deliver: @Sendable ([MediaLoopEvent]) -> Void
  let poll: Int32
  let pollEvents: OpaquePointer
  let apps: [AppSocket]
  var pools: [PortPool]
  var trunks: TrunkSockets
  let input: InputBatch
  let output: OutputBatch
  let outbox = PacketOutbox()
  let workspace = MediaWorkspace()

  /// The bridge of each slot: all that a packet needs.
  let bridges: UnsafeMutablePointer<Bridge?>
  var calls: ContiguousArray<ShardCall?>
  var slots: [Identifier: Int32] = [:]
  /// Free slots; the last is used next.
  var freeSlots: [Int32]
  var addresses: AddressTable
  /// Who else proved an address that belongs to another leg; one each.
  var claims: [MediaAddress: LegNumber] = [:]
  var userFragments: [String: LegNumber] = [:]
  var deadlines: SlotDeadlines
  /// Calls that were told to close, in that order, with the time at which they are taken away.
  var closing: [(identifier: Identifier, due: Int64)] = []

  /// What the bridge at work tells.
  var told: [MediaEvent] = []
  /// What the rooms tell, each for a bridge.
  var toldByRooms: [(Identifier, MediaEvent)] = []
  /// What goes up at the end of the turn.
  var events: [MediaLoopEvent] = []
  var commands: [LoopCommand<Bridge>] = []
  var counters = MediaLoopStatistics()
  var pace: LoopPace
  var bridgeCount = 0
  /// The descriptors of the shard itself are closed.
  var isClosed = false
  /// Set by the command to shut down.
  var finish: (@Sendable (MediaLoopHoldings) -> Void)?
  var random = SecureRandomNumberGenerator()
  /// Of the planted fault's choice of packets: the same in every run.
  var plantedLossState: UInt64 = 1

  package init(
    _ configuration: MediaLoopConfiguration, mailbox: LoopMailbox<LoopCommand<Bridge>>, gauge: LoopGauge = LoopGauge(),
    deliver: @escaping @Sendable ([MediaLoopEvent]) -> Void
  ) throws(InvalidValue) {
    try configuration.validate()
    var opened: [Int32] = []
    do throws(InvalidValue) {
      poll = try Self.checked(landline_poll_open(), "media.descriptors")
      opened.append(poll)
      try Self.check(landline_poll_add_wake(poll, mailbox.descriptor, TrunkSockets.mailboxTag), "media.descriptors")
      var apps: [AppSocket] = []
      for (index, interface) in configuration.app.enumerated() {
        let socket = try Self.open(interface, number: index, configuration)
        opened.append(socket.descriptor)
        try Self.check(landline_poll_add(poll, socket.descriptor, UInt64(index)), "media.descriptors")
        apps.append(socket)
      }
      self.apps = apps
      guard let pollEvents = landline_poll_events_make(Self.pollSize) else {
        throw InvalidValue.media("media.memory", "there is no memory for a list of events", accepted: "more memory")
      }
      self.pollEvents = pollEvents
      do throws(InvalidValue) {
        input = try InputBatch(capacity: Self.batchSize)
        output = try OutputBatch(outbox, sockets: apps.count)
      } catch {
        landline_poll_events_free(pollEvents)
        throw error
      }
    } catch {
      for descriptor in opened { landline_descriptor_close(descriptor) }
      throw error
    }
    self.configuration = configuration
    self.mailbox = mailbox
    self.gauge = gauge
    self.deliver = deliver
    pools = configuration.trunk.map { PortPool($0, configuration) }
    trunks = TrunkSockets(first: apps.count)
    let capacity = configuration.maximumBridges
    bridges = .allocate(capacity: capacity)
    bridges.initialize(repeating: nil, count: capacity)
    calls = ContiguousArray(repeating: nil, count: capacity)
    freeSlots = Array((0..<Int32(capacity)).reversed())
    addresses = AddressTable(seed: UInt64.random(in: .min ... .max))
    deadlines = SlotDeadlines(capacity: capacity)
    pace = LoopPace(maximumTick: configuration.maximumTickMicroseconds, at: 0, processor: 0)
    counters.receiveBufferBytes = Int(apps.map(\.grantedBytes).min() ?? 0)
  }

  deinit {
    closeDescriptors()
    landline_poll_events_free(pollEvents)
    bridges.deinitialize(count: configuration.maximumBridges)
    bridges.deallocate()
  }

  /// Of the shard itself. Those of calls are closed before.
  func closeDescriptors() {
    guard !isClosed else { return }
    isClosed = true
    for app in apps { landline_descriptor_close(app.descriptor) }
    landline_descriptor_close(poll)
  }

  package var appPorts: [AppPort] { apps.map(\.port) }

  private static func open(
    _ interface: MediaLoopConfiguration.AppInterface, number: Int, _ configuration: MediaLoopConfiguration
  ) throws(InvalidValue) -> AppSocket {
    var options = landline_socket_options(
      interface.bind, port: interface.port, bufferBytes: configuration.appBufferBytes, configuration)
    options.only_this_machine = interface.admitsOnlyThisMachine
    var port: UInt16 = 0
    var granted: Int32 = 0
    let descriptor = landline_socket_open(&options, &port, &granted)
    guard descriptor >= 0 else {
      throw .media(
        "media.bind", "the app port \(interface.bind):\(interface.port) cannot be opened: \(reason(-descriptor))",
        accepted: "an address of this machine with a free UDP port")
    }
    let bound = MediaAddress(high: options.high, low: options.low, port: port)
    let advertised = MediaAddress(interface.advertised ?? interface.bind, port: Int(port)) ?? bound
    return AppSocket(
      descriptor: descriptor, isIPv4: bound.ipv4 != nil,
      port: AppPort(port: MediaPort(rawValue: Int32(number)), address: advertised, bound: bound),
      grantedBytes: granted)
  }

  private static func checked(_ result: Int32, _ rule: String) throws(InvalidValue) -> Int32 {
    guard result >= 0 else {
      throw .media(rule, "the system refused: \(reason(-result))", accepted: "a higher limit of open files")
    }
    return result
  }

  private static func check(_ result: Int32, _ rule: String) throws(InvalidValue) { _ = try checked(result, rule) }
}
