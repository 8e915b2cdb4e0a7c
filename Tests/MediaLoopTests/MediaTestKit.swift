import CallModel
import Glibc
import LandlineWire
import MediaCore
import PeerKit
import SecureTransport
import Synchronization
import Testing

/// A UDP socket of a test on a loopback address.
final class MediaPeer: Sendable {
  struct Failure: Error {
    let call: String
    var code = errno
  }

  let handle: CInt
  let address: MediaAddress

  init(on host: SIPHost = .ipv4(0x7F00_0001), port: UInt16 = 0) throws {
    let family = host.isNumeric6 ? AF_INET6 : AF_INET
    let handle = socket(family, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard handle >= 0 else { throw Failure(call: "socket") }
    let wanted = MediaAddress(host, unchecked: port)
    guard wanted.withSocketAddress({ bind(handle, $0, $1) }) == 0 else {
      close(handle)
      throw Failure(call: "bind")
    }
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let bound = withUnsafeMutablePointer(to: &storage) { storage in
      _ = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(handle, $0, &length) }
      return UnsafeRawPointer(storage).load(fromByteOffset: 2, as: UInt16.self).bigEndian
    }
    address = MediaAddress(host, unchecked: bound)
    self.handle = handle
  }

  deinit { close(handle) }

  /// - Returns: Whether the kernel took it.
  @discardableResult
  func send(_ bytes: [UInt8], to address: MediaAddress) -> Bool {
    address.withSocketAddress { target, length in
      bytes.withUnsafeBytes { sendto(handle, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL), target, length) }
    } == bytes.count
  }

  /// What has come, without waiting.
  func receiveNow() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(handle, &buffer, buffer.count, 0)
    return count >= 0 ? Array(buffer[..<count]) : nil
  }

  func receive(_ what: String) async throws -> [UInt8] {
    let end = ContinuousClock.now + .seconds(20)
    while true {
      if let bytes = receiveNow() { return bytes }
      try #require(ContinuousClock.now < end, "\(what): nothing came in 20 s")
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

extension SIPHost {
  fileprivate var isNumeric6: Bool { if case .ipv6 = self { true } else { false } }

  /// An address of the IPv4 loopback network that no other test uses.
  static func ownLoopback() -> SIPHost {
    .ipv4(0x7F00_0000 | UInt32.random(in: 0x01_0001...0xFE_FFFE))
  }
}

extension MediaAddress {
  init(_ host: SIPHost, unchecked port: UInt16) {
    switch host {
    case .ipv4(let bits): self.init(ipv4: bits, port: port)
    case .ipv6(let high, let low): self.init(high: high, low: low, port: port)
    case .name: self.init(high: 0, low: 0, port: port)
    }
  }

  fileprivate func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    func call<Address>(_ address: Address) -> Result {
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<Address>.size)) }
      }
    }
    if let ipv4 {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = ipv4.bigEndian
      return call(address)
    }
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    withUnsafeMutableBytes(of: &address.sin6_addr) {
      $0.storeBytes(of: high.bigEndian, as: UInt64.self)
      $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return call(address)
  }
}

/// UDP ports of this machine that are bound on an IPv4 address (proc(5), /proc/net/udp). The system counts its way through
/// the table anew at each page of it, and passes over a socket if another one before it was closed meanwhile: the table is
/// read until it says the same twice.
func boundPorts(on host: SIPHost) -> Set<UInt16> {
  guard case .ipv4(let bits) = host else { return [] }
  let wanted = String(bits.byteSwapped, radix: 16, uppercase: true)
  let padded = String(repeating: "0", count: 8 - wanted.count) + wanted
  func read() -> Set<UInt16> {
    Set(
      SystemTable.text("/proc/net/udp").split(separator: "\n").compactMap { line in
        let fields = line.split(separator: " ")
        guard fields.count > 1, fields[1].hasPrefix(padded + ":") else { return nil }
        return fields[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
      })
  }
  var ports = read()
  for _ in 0..<100 {
    let again = read()
    if again == ports { break }
    ports = again
  }
  return ports
}

/// Numbers that are the same in each run.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

extension MediaBridge.Identifier {
  init(_ number: Int) { self.init(rawValue: UInt64(number)) }
}

/// Stands in for a bridge and shows what it is given.
///
/// A datagram that begins with 0 or 1 plays a STUN check for the user fragment in the rest: 0 proves its address, 1 drops
/// it. Every other is answered with the number of the bridge and its own bytes, or with what ``Orders`` say.
final class ProbeBridge: LoopBridge {
  struct Orders: Sendable {
    /// Answers each datagram on this port to this address in place of its source.
    var answer: (port: MediaPort, to: MediaAddress)?
    /// Answers to each datagram.
    var answers = 1
    /// Does not end when told to.
    var ignoresClose = false
    /// Ends with the first datagram that is no check.
    var closesItself = false
    /// Milliseconds from one due time to the next, and where a packet goes at each.
    var beat: (milliseconds: Int64, port: MediaPort, to: MediaAddress)?
  }

  enum Seen: Sendable, Equatable {
    case datagram(UInt64, LegID, [UInt8], MediaPort, MediaAddress)
    case command(UInt64, String)
    case ended(UInt64)
  }

  private let number: UInt64
  private let orders: Orders
  private let seen: Recorder<Seen>
  var nextDeadline: MonotonicInstant?

  init(
    _ identifier: MediaBridge.Identifier, _ orders: Orders = Orders(), _ seen: Recorder<Seen>, at now: MonotonicInstant
  ) {
    number = identifier.rawValue
    self.orders = orders
    self.seen = seen
    if orders.beat != nil { nextDeadline = now }
  }

  deinit { seen.append(.ended(number)) }

  static func userFragment(in packet: PacketBuffer) -> String? {
    String(decoding: packet.bytes.dropFirst(), as: UTF8.self)
  }

  func receive(
    _ packet: PacketBuffer, of id: LegID, on port: MediaPort, from address: MediaAddress,
    at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    seen.append(.datagram(number, id, packet.bytes, port, address))
    if packet[0] == 0 { events.append(.transport(id, .addressProved(address))) }
    if packet[0] == 1 { events.append(.transport(id, .addressDropped(address))) }
    guard packet[0] >= 4 else { return }
    for _ in 0..<orders.answers {
      outbox.next.replace(with: [UInt8(truncatingIfNeeded: number)] + packet.bytes)
      outbox.commit(on: orders.answer?.port ?? port, to: orders.answer?.to ?? address)
    }
    if orders.closesItself { events.append(.closed) }
  }

  func advance(to now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]) {
    guard let beat = orders.beat, let due = nextDeadline else { return }
    outbox.next.replace(with: [UInt8(truncatingIfNeeded: number)])
    outbox.commit(on: beat.port, to: beat.to)
    nextDeadline = due.advanced(byMilliseconds: beat.milliseconds)
  }

  func handle(
    _ command: MediaCommand, at now: MonotonicInstant, outbox: PacketOutbox, events: inout [MediaEvent]
  ) {
    seen.append(.command(number, String(String(describing: command).prefix { $0 != "(" })))
    if case .close = command, !orders.ignoresClose { events.append(.closed) }
  }
}

/// A loop with bridges that show what they are given.
final class ProbeLoop: Sendable {
  let thread: LoopThread<ProbeBridge>
  let events = Recorder<MediaLoopEvent>()
  let seen = Recorder<ProbeBridge.Seen>()
  let host: SIPHost

  static func configuration(_ host: SIPHost) -> MediaLoopConfiguration {
    MediaLoopConfiguration(
      app: [.init(bind: host, port: 0)], trunk: [.init(bind: host)])
  }

  init(on host: SIPHost = .ownLoopback(), _ change: (inout MediaLoopConfiguration) -> Void = { _ in }) throws {
    var configuration = ProbeLoop.configuration(host)
    change(&configuration)
    self.host = host
    let events = events
    thread = try LoopThread(configuration, name: "probe") { batch in for event in batch { events.append(event) } }
  }

  var app: MediaAddress { thread.appPorts[0].bound }

  func inspect() async throws -> (statistics: MediaLoopStatistics, holdings: MediaLoopHoldings) {
    await withCheckedContinuation { continuation in
      let isTaken = thread.post(.inspect { continuation.resume(returning: ($0, $1)) })
      if !isTaken { continuation.resume(returning: (MediaLoopStatistics(), MediaLoopHoldings())) }
    }
  }

  func reserve(
    _ number: Int, _ side: LegID = .far, interface: Int = 0, control: Bool = true
  ) async throws -> TrunkPorts {
    try await withCheckedThrowingContinuation { continuation in
      let isTaken = thread.post(
        .reserveTrunkPorts(MediaBridge.Identifier(number), side, interface: interface, control: control) {
          continuation.resume(with: $0.mapError { $0 })
        })
      if !isTaken { continuation.resume(throwing: MediaLoopFailure.stopped) }
    }
  }

  func open(_ number: Int, _ orders: ProbeBridge.Orders = .init()) async throws {
    let identifier = MediaBridge.Identifier(number)
    let seen = seen
    try await withCheckedThrowingContinuation { continuation in
      let isTaken = thread.post(
        .open(identifier, make: { ProbeBridge(identifier, orders, seen, at: $1) }) {
          continuation.resume(with: $0.mapError { $0 })
        })
      if !isTaken { continuation.resume(throwing: MediaLoopFailure.stopped) }
    }
  }

  func route(_ fragment: String, to number: Int, _ side: LegID = .near) {
    #expect(thread.post(.route(MediaBridge.Identifier(number), side, userFragment: fragment)))
  }

  func close(_ number: Int) { #expect(thread.post(.close(MediaBridge.Identifier(number)))) }

  func closed(_ number: Int) async throws {
    try await events.wait(for: "the end of \(number)", count: 1) {
      $0 == MediaLoopEvent(bridge: MediaBridge.Identifier(number), event: .closed)
    }
  }

  /// Proves an app's address to a bridge that has the user fragment.
  func prove(
    _ peer: MediaPeer, _ fragment: String, to number: Int, _ side: LegID = .near
  ) async throws {
    peer.send([0] + fragment.utf8, to: app)
    let address = peer.address
    try await events.wait(for: "proof of \(address)", count: 1) {
      $0
        == MediaLoopEvent(
          bridge: MediaBridge.Identifier(number), event: .transport(side, .addressProved(address)))
    }
  }

  /// Ends the loop and shows that nothing is left of it.
  func finish() async throws {
    let left = await withCheckedContinuation { continuation in
      let isTaken = thread.post(.shutDown { continuation.resume(returning: $0) })
      if !isTaken { continuation.resume(returning: MediaLoopHoldings()) }
    }
    #expect(left.isIdle && left.descriptors == 0 && left.quarantinedPairs == 0, "\(left)")
    // A program that another test starts holds copies of our descriptors between its fork and its exec.
    try await eventually("no port is bound") { boundPorts(on: host).isEmpty }
  }
}
