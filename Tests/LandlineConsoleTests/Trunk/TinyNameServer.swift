import Foundation
import Glibc
import PeerKit

/// A name server on 127.0.0.1 that answers A and SRV from a table, and everything else with "no such name".
final class TinyNameServer: Sendable {
  enum Record: Sendable {
    case a(UInt8, UInt8, UInt8, UInt8)
    case srv(UInt16, UInt16, UInt16, String)
  }

  let port: UInt16
  private let descriptor: Int32
  private let table: [String: [Record]]

  /// - Parameter table: By kind and name: `SRV _sip._udp.carrier.test`.
  init(_ table: [String: [Record]]) throws {
    self.table = table
    (descriptor, port) = try FreePort.bound(isDatagram: true)
    let thread = Thread { [self] in serve() }
    thread.start()
  }

  deinit { Glibc.close(descriptor) }

  /// Ends the thread. The socket goes with the last of the two that hold this.
  func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func serve() {
    var buffer = [UInt8](repeating: 0, count: 2048)
    while true {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let count = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &buffer, buffer.count, 0, $0, &length)
        }
      }
      guard count > 12 else { return }
      guard let reply = reply(Array(buffer[..<count])) else { continue }
      _ = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor, reply, reply.count, 0, $0, length) }
      }
    }
  }

  private func reply(_ message: [UInt8]) -> [UInt8]? {
    var labels: [String] = []
    var position = 12
    while position < message.count, message[position] != 0 {
      let end = position + Int(message[position])
      guard end < message.count else { return nil }
      labels.append(String(decoding: message[(position + 1)...end], as: UTF8.self))
      position = end + 1
    }
    guard position + 4 < message.count else { return nil }
    let kind = [1: "A", 28: "AAAA", 33: "SRV", 35: "NAPTR"][Int(message[position + 2])] ?? "?"
    let records = table["\(kind) \(labels.joined(separator: ".").lowercased())"] ?? []
    var reply = Array(message[..<2])
    reply += [0x81, records.isEmpty ? 0x83 : 0x80, 0, 1]
    reply += [0, UInt8(records.count), 0, 0, 0, 0]
    reply += message[12...(position + 4)]
    for record in records {
      let data: [UInt8]
      switch record {
      case .a(let first, let second, let third, let fourth): data = [first, second, third, fourth]
      case .srv(let priority, let weight, let port, let target):
        var bytes: [UInt8] = []
        for number in [priority, weight, port] { bytes += [UInt8(number >> 8), UInt8(number & 0xFF)] }
        for label in target.split(separator: ".") {
          bytes.append(UInt8(label.utf8.count))
          bytes += Array(label.utf8)
        }
        data = bytes + [0]
      }
      reply += [0xC0, 12, 0, message[position + 2], 0, 1]
      reply += [0, 0, 0, 60, 0, UInt8(data.count)]
      reply += data
    }
    return reply
  }
}
