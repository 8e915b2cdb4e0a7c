import CallModel
import Dispatch
import Glibc
import SimulationKit
import Synchronization

/// A relay between UDP sockets that treats datagrams as a bad network does.
///
/// Whoever sends to the listening socket is a client: it gets a socket of its own towards the far end, so that both ends
/// see one peer each, and all that comes back goes to it from the listening socket. One thread does everything.
final class DatagramRelay {
  /// Clients at once. A further one takes the place of the longest silent, if that is ``idle`` long enough.
  static let maximumClients = 64
  /// Microseconds of silence after which a client may be forgotten for another.
  static let idle: Int64 = 60_000_000
  /// Datagrams that are read from a socket in a row.
  static let batch = 256
  /// Longest wait in microseconds: how late an interrupt may be seen.
  static let longestWait: Int64 = 50_000

  struct Report {
    var forth = ImpairmentCounts()
    var back = ImpairmentCounts()
    var clients = 0
    /// Datagrams of clients that were too many.
    var refused: UInt64 = 0
    /// Datagrams that the system did not take.
    var unsent: UInt64 = 0
    /// Datagrams still on their way at the end.
    var inFlight = 0
  }

  private final class Client {
    let place: SocketPlace
    var socket: DatagramSocket
    var network: ImpairedNetwork
    var lastHeard: MonotonicInstant

    init(_ place: SocketPlace, _ socket: DatagramSocket, _ network: ImpairedNetwork, _ now: MonotonicInstant) {
      self.place = place
      self.socket = socket
      self.network = network
      lastHeard = now
    }
  }

  private let socket: DatagramSocket
  private let target: SocketPlace
  private var forth: ImpairmentOptions
  private var back: ImpairmentOptions
  private var commands: RelayCommands?
  private var random: SeededGenerator
  private var clients: [SocketPlace: Client] = [:]
  private var polled: [pollfd] = []
  private var order: [Client] = []
  private var buffer = [UInt8](repeating: 0, count: DatagramSocket.maximumDatagram)
  private var report = Report()

  init(
    listen: SocketPlace, target: SocketPlace, options: ImpairmentOptions, seed: UInt64, commands: RelayCommands? = nil
  ) throws {
    socket = try DatagramSocket(bound: listen, option: "--listen")
    self.target = target
    forth = options
    back = options
    self.commands = commands
    random = SeededGenerator(seed: seed)
    arrange()
  }

  /// Where it listens; the port is the system's choice where 0 was asked for.
  var place: SocketPlace? { socket.place }

  /// Relays until the time is over or `isOver` says so.
  /// - Throws: ``ConsoleError`` for a command that cannot be followed.
  func run(microseconds: Int64?, until isOver: () -> Bool) throws -> Report {
    let end = microseconds.map { DatagramRelay.now().advanced(byMicroseconds: $0) }
    var now = DatagramRelay.now()
    while !isOver(), end.map({ now < $0 }) ?? true {
      deliver(at: now)
      wait(at: now, until: end)
      now = DatagramRelay.now()
      if polled[0].revents != 0 { readFromClients(at: now) }
      for (index, client) in order.enumerated() where polled[index + 1].revents != 0 {
        readFromTarget(client, at: now)
      }
      if polled.count > order.count + 1, polled[order.count + 1].revents != 0 { try obey() }
      if order.count != clients.count || order.contains(where: { clients[$0.place] !== $0 }) { arrange() }
    }
    deliver(at: now)
    for client in clients.values { count(client) }
    return report
  }

  private static func now() -> MonotonicInstant {
    MonotonicInstant(microseconds: Int64(DispatchTime.now().uptimeNanoseconds / 1000))
  }

  // MARK: Sockets

  private func arrange() {
    order = Array(clients.values)
    polled = ([socket.descriptor] + order.map(\.socket.descriptor)).map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    if let commands, !commands.isOver {
      polled.append(pollfd(fd: commands.descriptor, events: Int16(POLLIN), revents: 0))
    }
  }

  /// Reads what was asked for, and changes the network.
  private func obey() throws {
    for line in try commands?.read() ?? [] {
      if try commands?.take(line) == true {
        for client in clients.values { client.socket = try DatagramSocket(connected: target) }
      }
    }
    guard let commands else { return }
    forth = try commands.forth.impairment()
    back = try commands.back.impairment()
    for client in clients.values { client.network.change(forth: forth, back: back) }
    arrange()
  }

  private func wait(at now: MonotonicInstant, until end: MonotonicInstant?) {
    var until = now.advanced(byMicroseconds: DatagramRelay.longestWait)
    if let end { until = min(until, end) }
    for client in order { if let deadline = client.network.nextDeadline { until = min(until, deadline) } }
    // Rounded up: rather up to a millisecond late than turning in circles.
    let left = (max(0, until.microseconds(since: now)) + 999) / 1000
    if poll(&polled, nfds_t(polled.count), CInt(left)) <= 0 {
      for index in polled.indices { polled[index].revents = 0 }
    }
  }

  private func readFromClients(at now: MonotonicInstant) {
    for _ in 0..<DatagramRelay.batch {
      guard let (bytes, place) = socket.receive(into: &buffer) else { return }
      guard let client = clients[place] ?? admit(place, at: now) else {
        report.refused += 1
        continue
      }
      client.lastHeard = now
      client.network.offer(bytes, .forth, at: now)
    }
  }

  private func readFromTarget(_ client: Client, at now: MonotonicInstant) {
    for _ in 0..<DatagramRelay.batch {
      guard let (bytes, _) = client.socket.receive(into: &buffer) else { return }
      client.lastHeard = now
      client.network.offer(bytes, .back, at: now)
    }
  }

  private func admit(_ place: SocketPlace, at now: MonotonicInstant) -> Client? {
    if clients.count >= DatagramRelay.maximumClients {
      guard let silent = clients.values.min(by: { $0.lastHeard < $1.lastHeard }),
        now.microseconds(since: silent.lastHeard) >= DatagramRelay.idle
      else { return nil }
      count(silent)
      clients[silent.place] = nil
    }
    guard let socket = try? DatagramSocket(connected: target) else { return nil }
    let network = ImpairedNetwork(forth: forth, back: back, seed: random.next())
    let client = Client(place, socket, network, now)
    clients[place] = client
    report.clients += 1
    return client
  }

  private func deliver(at now: MonotonicInstant) {
    for client in clients.values {
      while let delivery = client.network.next(at: now) {
        let isSent =
          switch delivery.direction {
          case .forth: client.socket.send(delivery.bytes, to: nil)
          case .back: socket.send(delivery.bytes, to: client.place)
          }
        if !isSent { report.unsent += 1 }
      }
    }
  }

  private func count(_ client: Client) {
    report.forth = report.forth + client.network.forth.counts
    report.back = report.back + client.network.back.counts
    report.inFlight += client.network.inFlight
  }
}

/// Ends a run when the process is interrupted or asked to end.
enum RelayInterrupt {
  private static let wasAsked = Atomic<Bool>(false)

  static var isAsked: Bool { wasAsked.load(ordering: .relaxed) }

  /// From now on both signals only set a mark, so that the counts can still be told.
  static func watch() {
    // Made before a signal handler needs it.
    wasAsked.store(false, ordering: .relaxed)
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in RelayInterrupt.wasAsked.store(true, ordering: .relaxed) }
    }
  }
}
