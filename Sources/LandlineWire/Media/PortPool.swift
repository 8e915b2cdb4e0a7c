import CLandlineSockets
import CallModel
import Glibc
import SecureTransport

/// The pairs of ports of one trunk interface: free, with a call, or in quarantine.
///
/// A pair is drawn at random. After use it stays bound, unread, until nobody has sent to it for a while: a sender that
/// has not noticed the end of a call must not be heard in the next one.
package struct PortPool {
  /// The sockets of one pair.
  package struct Pair: Hashable, Sendable {
    /// Of RTP; RTCP has the next.
    package let port: UInt16
    package let descriptor: Int32
    /// Negative: RTP and RTCP share the first.
    package let control: Int32

    var descriptors: Int { control < 0 ? 1 : 2 }
  }

  private struct Quarantined {
    let port: UInt16
    /// Negative: closed early.
    var descriptor: Int32
    var control: Int32
    var due: Int64
    let limit: Int64
  }

  /// Pairs tried when other programs hold some.
  package static let attempts = 16
  /// Stale datagrams read from one socket before it is judged; further ones mean the same.
  package static let discarded: Int32 = 256

  /// What session descriptions name; the port means nothing.
  let host: MediaAddress
  /// Where this very host reaches the sockets: the loopback address for those that listen everywhere.
  let reachable: MediaAddress
  let isIPv4: Bool
  private let options: landline_socket_options
  private let quarantineTime: Int64
  private let quarantineLimit: Int64
  private let quarantinedDescriptorLimit: Int
  private var free: [UInt16]
  /// In the order of their time, from `head` on.
  private var quarantine: [Quarantined] = []
  private var head = 0
  package private(set) var quarantinedDescriptors = 0
  package private(set) var inUse = 0
  package private(set) var staleDatagrams: UInt64 = 0

  package init(_ interface: MediaLoopConfiguration.TrunkInterface, _ configuration: MediaLoopConfiguration) {
    free = interface.pairs
    options = landline_socket_options(
      interface.bind, port: 0, bufferBytes: configuration.trunkBufferBytes, configuration)
    let bound = MediaAddress(high: options.high, low: options.low, port: 0)
    isIPv4 = bound.ipv4 != nil
    reachable =
      switch (bound.ipv4, bound.high, bound.low) {
      case (0, _, _): MediaAddress(ipv4: 0x7F00_0001, port: 0)
      case (nil, 0, 0): MediaAddress(high: 0, low: 1, port: 0)
      default: bound
      }
    host = interface.advertised.flatMap { MediaAddress($0, port: 1) } ?? bound
    quarantineTime = configuration.quarantineMilliseconds * 1000
    quarantineLimit = configuration.quarantineLimitMilliseconds * 1000
    quarantinedDescriptorLimit = configuration.quarantinedDescriptors
  }

  package var freeCount: Int { free.count }
  package var quarantinedCount: Int { quarantine.count - head }

  /// Microseconds; `Int64.max`: nothing is in quarantine.
  package var nextDeadline: Int64 { head < quarantine.count ? quarantine[head].due : .max }

  package mutating func reserve(
    control: Bool, using random: inout some RandomNumberGenerator
  ) -> Result<Pair, MediaLoopFailure> {
    var taken: [UInt16] = []
    defer { free += taken }
    for _ in 0..<PortPool.attempts {
      guard !free.isEmpty else { break }
      let index = Int.random(in: free.indices, using: &random)
      let port = free[index]
      var opened = open(port, control: control)
      if case .failure(.descriptors) = opened, quarantinedDescriptors > 0 {
        while quarantinedDescriptors > 0 { closeOldest() }
        opened = open(port, control: control)
      }
      switch opened {
      case .success(let pair):
        free.swapAt(index, free.count - 1)
        free.removeLast()
        inUse += 1
        return .success(pair)
      case .failure(.portsTaken):
        free.swapAt(index, free.count - 1)
        taken.append(free.removeLast())
      case .failure(let failure): return .failure(failure)
      }
    }
    return .failure(taken.isEmpty ? .portsExhausted : .portsTaken)
  }

  private func open(_ port: UInt16, control: Bool) -> Result<Pair, MediaLoopFailure> {
    switch open(port) {
    case .failure(let failure): return .failure(failure)
    case .success(let descriptor):
      guard control else { return .success(Pair(port: port, descriptor: descriptor, control: -1)) }
      switch open(port + 1) {
      case .success(let second): return .success(Pair(port: port, descriptor: descriptor, control: second))
      case .failure(let failure):
        landline_descriptor_close(descriptor)
        return .failure(failure)
      }
    }
  }

  private func open(_ port: UInt16) -> Result<Int32, MediaLoopFailure> {
    var options = options
    options.port = port
    var bound: UInt16 = 0
    let descriptor = landline_socket_open(&options, &bound, nil)
    if descriptor >= 0 {
      if !DescriptorReserve.holds(descriptor) { return .success(descriptor) }
      landline_descriptor_close(descriptor)
      return .failure(.descriptors)
    }
    switch -descriptor {
    case EADDRINUSE, EACCES: return .failure(.portsTaken)
    case EMFILE, ENFILE, ENOMEM, ENOBUFS: return .failure(.descriptors)
    default: return .failure(.address)
    }
  }

  /// Takes a pair back that nobody has used.
  package mutating func cancel(_ pair: Pair) {
    inUse -= 1
    landline_descriptor_close(pair.descriptor)
    if pair.control >= 0 { landline_descriptor_close(pair.control) }
    free.append(pair.port)
  }

  /// Puts a pair into quarantine. The sockets are no longer waited on.
  package mutating func release(_ pair: Pair, at now: Int64) {
    inUse -= 1
    staleDatagrams += UInt64(discard(pair.descriptor) + discard(pair.control))
    quarantine.append(
      Quarantined(
        port: pair.port, descriptor: pair.descriptor, control: pair.control, due: now + quarantineTime,
        limit: now + quarantineLimit))
    quarantinedDescriptors += pair.descriptors
    while quarantinedDescriptors > quarantinedDescriptorLimit { closeOldest() }
  }

  /// Frees the pairs whose time is over, and watches those again that somebody still sends to.
  package mutating func expire(at now: Int64) {
    while head < quarantine.count, quarantine[head].due <= now {
      var entry = quarantine[head]
      head += 1
      let stale = discard(entry.descriptor) + discard(entry.control)
      staleDatagrams += UInt64(stale)
      if stale > 0, now < entry.limit {
        entry.due = now + quarantineTime
        quarantine.append(entry)
      } else {
        quarantinedDescriptors -= close(&entry)
        free.append(entry.port)
      }
    }
    if head == quarantine.count || head > 1_024 && 2 * head > quarantine.count {
      quarantine.removeFirst(head)
      head = 0
    }
  }

  /// Closes what is in quarantine.
  package mutating func shutDown() {
    while quarantinedDescriptors > 0 { closeOldest() }
    free += quarantine[head...].map(\.port)
    quarantine = []
    head = 0
  }

  private func discard(_ descriptor: Int32) -> Int32 {
    descriptor < 0 ? 0 : landline_socket_discard(descriptor, PortPool.discarded)
  }

  private mutating func closeOldest() {
    guard let index = quarantine[head...].firstIndex(where: { $0.descriptor >= 0 }) else {
      quarantinedDescriptors = 0
      return
    }
    quarantinedDescriptors -= close(&quarantine[index])
  }

  /// - Returns: How many descriptors that were.
  private func close(_ entry: inout Quarantined) -> Int {
    var closed = 0
    if entry.descriptor >= 0 {
      landline_descriptor_close(entry.descriptor)
      closed += 1
    }
    if entry.control >= 0 {
      landline_descriptor_close(entry.control)
      closed += 1
    }
    (entry.descriptor, entry.control) = (-1, -1)
    return closed
  }
}

extension landline_socket_options {
  /// `host` is numeric.
  init(_ host: SIPHost, port: UInt16, bufferBytes: Int, _ configuration: MediaLoopConfiguration) {
    let (high, low): (UInt64, UInt64) =
      switch host {
      case .ipv4(let address): (0, 0xFFFF_0000_0000 | UInt64(address))
      case .ipv6(let high, let low): (high, low)
      // Refused before; the unspecified address binds to nothing in particular.
      case .name: (0, 0)
      }
    self.init(
      high: high, low: low, port: port, receive_bytes: Int32(clamping: bufferBytes),
      send_bytes: Int32(clamping: bufferBytes), traffic_class: Int32(configuration.differentiatedServices) << 2,
      only_this_machine: false)
  }
}
