import CLandlineCares
import CallModel
import Glibc
import SIPCore

/// One c-ares channel: sends questions, repeats them, moves to the next server, turns to TCP for long answers, and
/// checks that an answer fits its question. Used on one thread.
final class CaresChannel {
  /// What came of a question.
  struct Arrival {
    let question: DNSQuestion
    let reading: DNSMessageReader.Reading
  }

  /// Held by c-ares from the question to its one callback.
  private final class Errand {
    let channel: CaresChannel
    let question: DNSQuestion

    init(_ channel: CaresChannel, _ question: DNSQuestion) {
      self.channel = channel
      self.question = question
    }
  }

  /// Bytes of an answer over UDP that is asked for: what crosses any path unbroken.
  private static let datagramBytes: Int32 = 1232
  /// The library names at most so many sockets.
  private static let maximumSockets = 16

  private let handle: ares_channel
  private var isOpen = true
  private var arrivals: [Arrival] = []

  init(_ configuration: ResolverConfiguration) throws(ResolverError) {
    guard ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS else { throw .library("cannot start") }
    var options = ares_options()
    options.flags = ARES_FLAG_EDNS | ARES_FLAG_NOSEARCH
    options.timeout = max(1, configuration.timeoutMilliseconds)
    options.tries = max(1, configuration.tries)
    options.ednspsz = CaresChannel.datagramBytes
    let mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ
    var opened: ares_channel?
    let status = ares_init_options(&opened, &options, mask)
    guard status == ARES_SUCCESS, let opened else { throw .library(CaresChannel.text(of: status)) }
    let servers = configuration.servers.prefix(ResolverConfiguration.maximumServers)
    if !servers.isEmpty {
      let list = servers.map { "\($0.host):\($0.port)" }.joined(separator: ",")
      let status = ares_set_servers_ports_csv(opened, list)
      guard status == ARES_SUCCESS else {
        ares_destroy(opened)
        throw .servers("\(list): \(CaresChannel.text(of: status))")
      }
    }
    handle = opened
  }

  deinit { if isOpen { ares_destroy(handle) } }

  /// Ends every question; nothing arrives afterwards.
  func close() {
    guard isOpen else { return }
    isOpen = false
    ares_destroy(handle)
    arrivals = []
  }

  func ask(_ question: DNSQuestion) {
    let errand = Unmanaged.passRetained(Errand(self, question))
    ares_query(
      handle, question.name, 1, Int32(question.kind.type),
      { argument, status, _, bytes, count in
        guard let argument else { return }
        let errand = Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue()
        let message = UnsafeBufferPointer(start: bytes, count: bytes == nil ? 0 : max(0, Int(count)))
        errand.channel.arrived(errand.question, status: status, message: Array(message))
      }, errand.toOpaque())
  }

  /// The addresses that `/etc/hosts` gives a name; empty where it has none.
  func hostsFileAddresses(_ question: DNSQuestion) -> [SIPHost] {
    let family: Int32
    switch question.kind {
    case .a: family = AF_INET
    case .aaaa: family = AF_INET6
    case .naptr, .srv: return []
    }
    var found: UnsafeMutablePointer<hostent>?
    guard ares_gethostbyname_file(handle, question.name, family, &found) == ARES_SUCCESS, let found else {
      return []
    }
    defer { ares_free_hostent(found) }
    let width = family == AF_INET ? 4 : 16
    guard found.pointee.h_addrtype == family, Int(found.pointee.h_length) == width else { return [] }
    var result: [SIPHost] = []
    var entry = found.pointee.h_addr_list
    while let address = entry?.pointee {
      let bytes = UnsafeRawBufferPointer(start: address, count: width)
      let halves = (bytes.prefix(8), bytes.dropFirst(8))
      let (high, low) = (
        halves.0.reduce(UInt64(0), CaresChannel.joined), halves.1.reduce(UInt64(0), CaresChannel.joined)
      )
      result.append(family == AF_INET ? .ipv4(UInt32(truncatingIfNeeded: high)) : .ipv6(high: high, low: low))
      entry = entry?.advanced(by: 1)
    }
    return result
  }

  private static func joined(_ number: UInt64, _ byte: UInt8) -> UInt64 { number << 8 | UInt64(byte) }

  /// Sockets to wait for, each with the events that are wanted.
  var sockets: [pollfd] {
    var descriptors = [ares_socket_t](repeating: -1, count: CaresChannel.maximumSockets)
    let bits = UInt32(bitPattern: ares_getsock(handle, &descriptors, Int32(CaresChannel.maximumSockets)))
    return descriptors.enumerated().compactMap { index, descriptor in
      let isReadable = bits & 1 << UInt32(index) != 0
      // At most 16 sockets: the shift stays below 32.
      let isWritable = bits & 1 << UInt32(index + CaresChannel.maximumSockets) != 0
      guard isReadable || isWritable else { return nil }
      return pollfd(
        fd: descriptor, events: Int16((isReadable ? POLLIN : 0) | (isWritable ? POLLOUT : 0)), revents: 0)
    }
  }

  /// Milliseconds until the library wants to be called, at most `limit`.
  func timeout(limit: Int64) -> Int64 {
    var longest = timeval(tv_sec: Int(limit / 1000), tv_usec: Int(limit % 1000 * 1000))
    var wanted = timeval()
    guard let next = ares_timeout(handle, &longest, &wanted)?.pointee else { return limit }
    return max(0, Int64(next.tv_sec) * 1000 + Int64(next.tv_usec + 999) / 1000)
  }

  /// Reads, writes and repeats what is due.
  func process(_ ready: ArraySlice<pollfd>) {
    for socket in ready where socket.revents != 0 {
      let isWritable = Int32(socket.revents) & POLLOUT != 0
      let isReadable = Int32(socket.revents) & ~POLLOUT != 0
      ares_process_fd(
        handle, isReadable ? socket.fd : CaresChannel.noSocket, isWritable ? socket.fd : CaresChannel.noSocket)
    }
    ares_process_fd(handle, CaresChannel.noSocket, CaresChannel.noSocket)
  }

  private static let noSocket: ares_socket_t = -1

  func drainArrivals() -> [Arrival] {
    defer { arrivals = [] }
    return arrivals
  }

  private func arrived(_ question: DNSQuestion, status: Int32, message: [UInt8]) {
    guard isOpen else { return }
    let reading: DNSMessageReader.Reading
    switch status {
    case ARES_SUCCESS:
      reading = DNSMessageReader.read(message, answering: question)
    case ARES_ENODATA, ARES_ENOTFOUND:
      let said = DNSMessageReader.read(message, answering: question)
      reading = DNSMessageReader.Reading(answer: .notFound, seconds: said.answer == .notFound ? said.seconds : nil)
    case ARES_EBADNAME:
      reading = DNSMessageReader.Reading(answer: .notFound, seconds: nil)
    case ARES_ETIMEOUT, ARES_ECONNREFUSED, ARES_EOF:
      reading = DNSMessageReader.Reading(answer: .timedOut, seconds: nil)
    default:
      reading = DNSMessageReader.Reading(answer: .serverFailure, seconds: nil)
    }
    arrivals.append(Arrival(question: question, reading: reading))
  }

  private static func text(of status: Int32) -> String { String(cString: ares_strerror(status)) }
}
