import Foundation
import Glibc
import SIPCore
import Synchronization

/// A name server on 127.0.0.1 that answers from a table, over UDP and, where an answer is long, over TCP.
final class NameServer: Sendable {
  /// A record as it goes on the wire.
  struct Record: Sendable {
    var type: UInt16
    var data: [UInt8]
    var seconds: UInt32 = 60
    /// `nil` for the name that was asked for.
    var owner: String? = nil
  }

  enum Reply: Sendable {
    case records([Record])
    /// With an SOA whose time to live is this.
    case nameError(seconds: UInt32)
    case code(UInt8)
    /// These bytes behind the identifier.
    case raw([UInt8])
    case silence
  }

  private struct State {
    var table: [DNSQuestion: Reply] = [:]
    var asked: [String] = []
    var isClosed = false
    var held: [(reply: [UInt8], to: sockaddr_in)] = []
    var isHolding = false
  }

  private let state = Mutex(State())
  private let datagrams: Int32
  private let listener: Int32
  let port: UInt16

  struct NoSocket: Error {}

  init() throws {
    var bound: (datagrams: Int32, listener: Int32, port: UInt16)?
    // No program that another test starts meanwhile may hold them open.
    let flag = Int32(SOCK_CLOEXEC.rawValue)
    for _ in 0..<20 where bound == nil {
      let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | flag, 0)
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flag, 0)
      if let port = NameServer.bind(datagrams, port: 0), NameServer.bind(listener, port: port) != nil,
        listen(listener, 16) == 0
      {
        bound = (datagrams, listener, port)
      } else {
        Glibc.close(datagrams)
        Glibc.close(listener)
      }
    }
    guard let bound else { throw NoSocket() }
    (datagrams, listener, port) = bound
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  deinit {
    Glibc.close(datagrams)
    Glibc.close(listener)
  }

  /// Ends the server soon. Its sockets go with the last of its thread and its owner.
  func close() { state.withLock { $0.isClosed = true } }

  subscript(kind: DNSQuestion.Kind, name: String) -> Reply {
    get { state.withLock { $0.table[DNSQuestion(kind, name)] ?? .nameError(seconds: 30) } }
    set { state.withLock { $0.table[DNSQuestion(kind, name)] = newValue } }
  }

  func set(_ kind: DNSQuestion.Kind, _ name: String, _ reply: Reply) {
    state.withLock { $0.table[DNSQuestion(kind, name)] = reply }
  }

  /// Every question, in order: `SRV _sip._udp.example.com`.
  var asked: [String] { state.withLock { $0.asked } }

  func forget() { state.withLock { $0.asked = [] } }

  /// While held, questions are noted and answers wait for ``letGo()``.
  func hold() { state.withLock { $0.isHolding = true } }

  func letGo() {
    let held = state.withLock { state in
      state.isHolding = false
      defer { state.held = [] }
      return state.held
    }
    for (reply, address) in held { send(reply, to: address) }
  }

  // MARK: Sockets

  private static func bind(_ socket: Int32, port: UInt16) -> UInt16? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        guard Glibc.bind(socket, generic, length) == 0, getsockname(socket, generic, &length) == 0 else { return nil }
        return UInt16(bigEndian: pointer.pointee.sin_port)
      }
    }
  }

  private func serve() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !state.withLock({ $0.isClosed }) {
      var sockets = [
        pollfd(fd: datagrams, events: Int16(POLLIN), revents: 0),
        pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&sockets, 2, 20) > 0 else { continue }
      if sockets[0].revents != 0 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            recvfrom(datagrams, &buffer, buffer.count, 0, $0, &length)
          }
        }
        if count > 0, let reply = reply(to: Array(buffer[..<count]), limit: 1232) { deliver(reply, to: address) }
      }
      if sockets[1].revents != 0 { serveStream() }
    }
  }

  private func serveStream() {
    let stream = accept(listener, nil, nil)
    guard stream >= 0 else { return }
    defer { Glibc.close(stream) }
    _ = fcntl(stream, F_SETFD, FD_CLOEXEC)
    var patience = timeval(tv_sec: 2, tv_usec: 0)
    setsockopt(stream, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1024)
    while received.count < 2 || received.count < 2 + Int(received[0]) << 8 + Int(received[1]) {
      let count = read(stream, &buffer, buffer.count)
      guard count > 0 else { return }
      received += buffer[..<count]
    }
    guard let reply = reply(to: Array(received.dropFirst(2)), limit: 65_535) else { return }
    var rest = ([UInt8(reply.count >> 8), UInt8(reply.count & 0xFF)] + reply)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(stream, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
    // The other end closes once it has read everything.
    _ = read(stream, &buffer, buffer.count)
  }

  private func deliver(_ reply: [UInt8], to address: sockaddr_in) {
    let isHeld = state.withLock { state in
      if state.isHolding { state.held.append((reply, address)) }
      return state.isHolding
    }
    if !isHeld { send(reply, to: address) }
  }

  private func send(_ reply: [UInt8], to address: sockaddr_in) {
    var address = address
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(datagrams, reply, reply.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  // MARK: Messages

  private func reply(to message: [UInt8], limit: Int) -> [UInt8]? {
    guard message.count > 12 else { return nil }
    var labels: [String] = []
    var position = 12
    while position < message.count, message[position] != 0 {
      let length = Int(message[position])
      guard position + length < message.count else { return nil }
      labels.append(String(decoding: message[(position + 1)...(position + length)], as: UTF8.self))
      position += length + 1
    }
    guard position + 5 <= message.count,
      let kind = NameServer.types[UInt16(message[position + 1]) << 8 | UInt16(message[position + 2])]
    else { return nil }
    let question = DNSQuestion(kind, labels.joined(separator: "."))
    let asked = Array(message[12..<(position + 5)])
    let reply = state.withLock { state in
      state.asked.append(question.description)
      return state.table[question] ?? .nameError(seconds: 30)
    }
    func head(_ flags: [UInt8], answers: Int, authorities: Int = 0) -> [UInt8] {
      Array(message[..<2]) + flags + [0, 1] + NameServer.number16(answers) + NameServer.number16(authorities) + [0, 0]
        + asked
    }
    switch reply {
    case .silence: return nil
    case .raw(let bytes): return Array(message[..<2]) + bytes
    case .code(let code): return head([0x81, 0x80 | code], answers: 0)
    case .nameError(let seconds):
      let data =
        NameServer.name("ns") + NameServer.name("root") + [UInt8](repeating: 0, count: 16)
        + NameServer.number32(seconds)
      let record = Record(type: 6, data: data, seconds: 86_400)
      return head([0x81, 0x83], answers: 0, authorities: 1) + NameServer.wire(record)
    case .records(let records):
      let full = head([0x81, 0x80], answers: records.count) + records.flatMap(NameServer.wire)
      return full.count <= limit ? full : head([0x83, 0x80], answers: 0)
    }
  }

  private static let types: [UInt16: DNSQuestion.Kind] = [1: .a, 28: .aaaa, 33: .srv, 35: .naptr]

  static func wire(_ record: Record) -> [UInt8] {
    (record.owner.map(name) ?? [0xC0, 12]) + number16(Int(record.type)) + [0, 1] + number32(record.seconds)
      + number16(record.data.count) + record.data
  }

  static func name(_ text: String) -> [UInt8] {
    text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  static func number16(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

  static func number32(_ number: UInt32) -> [UInt8] {
    [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
  }
}

extension NameServer.Record {
  static func a(_ octets: UInt8..., seconds: UInt32 = 60, owner: String? = nil) -> NameServer.Record {
    NameServer.Record(type: 1, data: octets, seconds: seconds, owner: owner)
  }

  static func aaaa(_ octets: [UInt8]) -> NameServer.Record { NameServer.Record(type: 28, data: octets) }

  static func srv(_ priority: Int, _ weight: Int, _ port: Int, _ target: String) -> NameServer.Record {
    NameServer.Record(
      type: 33,
      data: NameServer.number16(priority) + NameServer.number16(weight) + NameServer.number16(port)
        + NameServer.name(target))
  }

  static func naptr(
    _ order: Int, _ preference: Int, _ flags: String, _ services: String, _ replacement: String
  ) -> NameServer.Record {
    func text(_ value: String) -> [UInt8] { [UInt8(value.utf8.count)] + Array(value.utf8) }
    return NameServer.Record(
      type: 35,
      data: NameServer.number16(order) + NameServer.number16(preference) + text(flags) + text(services) + [0]
        + NameServer.name(replacement))
  }

  static func alias(_ owner: String?, to target: String, seconds: UInt32 = 60) -> NameServer.Record {
    NameServer.Record(type: 5, data: NameServer.name(target), seconds: seconds, owner: owner)
  }
}
