import Foundation
import LandlineBench
import Testing

@Suite struct MediaGatewayHostTests {
  @Test func aCallPassesThroughTheGateway() throws {
    let (app, trunk) = (try LoopbackSocket(), try LoopbackSocket())
    let host = try MediaGatewayHost()
    let answer = host.answer("open relay 1 \(app.port) \(trunk.port)")
    let opened = try JSONDecoder().decode(Opened.self, from: Data(answer.utf8))
    let ports = try #require(opened.ports.count == 2 ? opened.ports : nil, "\(answer)")
    #expect(opened.appKey == nil)
    for (number, (from, to, port)) in [(app, trunk, ports[0]), (trunk, app, ports[1])].enumerated() {
      let payload = (0..<160).map { UInt8($0 ^ number) }
      from.send([0x80, 0, 0, 7, 0, 0, 0, 160, 1, 2, 3, 4] + payload, to: port)
      let heard = try #require(to.receive())
      #expect(heard.count == 172)
      #expect(heard[1] & 0x7F == 0)
      #expect(Array(heard.dropFirst(12)) == payload)
    }
    #expect(host.answer("close") == "closed 1")
    #expect(host.answer("close") == "closed 0")
  }

  @Test func threadsTakeCallsInTurn() throws {
    let host = try MediaGatewayHost(threads: 2)
    let opened = try JSONDecoder().decode(Opened.self, from: Data(host.answer("open relay 4 9000 9002").utf8))
    #expect(Set(opened.ports).count == 8)
    // The second thread has the upper half of the ports.
    #expect(opened.ports.count { $0 >= 26_550 } == 4)
    #expect(host.answer("close") == "closed 4")
    #expect(throws: BenchProblem.self) { try MediaGatewayHost(threads: 0) }
  }

  @Test func secureCallsSayWhatTheyProtectWith() throws {
    let host = try MediaGatewayHost()
    let opened = try JSONDecoder().decode(Opened.self, from: Data(host.answer("open reencrypt 2 9000 9002").utf8))
    #expect(opened.ports.count == 4)
    #expect(Set(opened.ports).count == 4)
    #expect(opened.appKey?.count == 40)
    #expect(opened.trunkKey?.count == 40)
  }

  @Test func appsThatShakeHandsShareAPort() throws {
    let host = try MediaGatewayHost()
    let calls = try (1...2).map { number in
      let offer = Data(AppOffer(call: number).text.utf8).base64EncodedString()
      return try JSONDecoder().decode(Answered.self, from: Data(host.answer("call 9000 \(offer)").utf8))
    }
    #expect(Set(calls.map(\.trunkPort)).count == 2)
    #expect(Set(calls.map { CallDescription.port(in: $0.answer) }).count == 1)
    for call in calls {
      for line in ["a=ice-lite", "a=setup:passive", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2"] {
        #expect(call.answer.contains("\(line)\r\n"), "\(call.answer)")
      }
      #expect(call.answer.contains("a=fingerprint:sha-256 "))
    }
    #expect(host.answer("call 9000 dj0w").hasPrefix("problem: "))
    #expect(host.answer("close") == "closed 2")
  }

  @Test func everyoneInAConferenceHearsTheOthers() throws {
    let people = try LoopbackSocket()
    let host = try MediaGatewayHost(threads: 2)
    let opened = try JSONDecoder().decode(Opened.self, from: Data(host.answer("room 4 \(people.port) pcmu").utf8))
    #expect(Set(opened.ports).count == 4)
    // All of a room are on one thread.
    #expect(opened.ports.allSatisfy { $0 < 26_550 } || opened.ports.allSatisfy { $0 >= 26_550 })
    // Loudest and its opposite in turn: a tone of 4 kHz from the first one alone, silence from the others.
    let tone = (0..<160).map { UInt8($0.isMultiple(of: 2) ? 0x80 : 0x00) }
    let silence = [UInt8](repeating: 0xFF, count: 160)
    var loud: [UInt16: Int] = [:]
    let end = ContinuousClock.now + .seconds(10)
    var sequence: UInt8 = 0
    while loud.count < 3 || loud.values.contains(where: { $0 < 5 }), ContinuousClock.now < end {
      for (place, port) in opened.ports.enumerated() {
        let stamp = UInt32(sequence) * 160
        let header: [UInt8] = [
          0x80, 0, 0, sequence, 0, 0, UInt8(stamp >> 8 & 0xFF), UInt8(stamp & 0xFF), 0, 0, 0, UInt8(place),
        ]
        people.send(header + (place == 0 ? tone : silence), to: port)
      }
      sequence &+= 1
      let next = ContinuousClock.now + .milliseconds(20)
      while let (heard, port) = people.receiveFromSource(until: next) {
        // Bits of a louder segment than the fourth are those of a tone.
        if heard.count == 172, heard.dropFirst(12).contains(where: { ~$0 & 0x70 >= 0x50 }) {
          loud[port, default: 0] += 1
        }
      }
    }
    #expect(Set(loud.keys) == Set(opened.ports.dropFirst()))
    #expect(host.answer("close") == "closed 4")
  }

  @Test func conferencesOfOpusAreOpened() throws {
    let host = try MediaGatewayHost()
    let rooms = try (1...2).map { _ in
      try JSONDecoder().decode(Opened.self, from: Data(host.answer("room 3 9000 opus").utf8)).ports
    }
    #expect(Set(rooms.joined()).count == 6)
    #expect(host.answer("close") == "closed 6")
  }

  @Test(arguments: [
    "", "open", "open relay 1 2", "call", "call 9000", "call x dj0w", "call 9000 !", "open nothing 1 2 3",
    "open relay 0 2 3", "open relay 99999 2 3",
    "open relay 1 2 70000",
    "open relay x 2 3", "close now",
    "room", "room 4 9000", "room 0 9000 opus", "room 1001 9000 opus", "room 4 70000 opus", "room 4 9000 pcma",
  ])
  func otherLinesAreRefused(_ line: String) throws {
    #expect(try MediaGatewayHost().answer(line) == "problem: not \(line)")
  }

  private struct Answered: Decodable {
    var answer: String
    var trunkPort: UInt16
  }

  private struct Opened: Decodable {
    var ports: [UInt16]
    var appKey: String?
    var trunkKey: String?
  }
}

/// A UDP socket on 127.0.0.1 whose reads give up after some seconds.
private final class LoopbackSocket {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var wait = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var address = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(isBound)
  }

  deinit { close(descriptor) }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  func send(_ bytes: [UInt8], to port: UInt16) {
    var address = Self.address(port)
    let sent = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(sent == bytes.count)
  }

  /// What comes next, with the port that it came from; `nil` when nothing does in time.
  func receiveFromSource(until end: ContinuousClock.Instant) -> (bytes: [UInt8], port: UInt16)? {
    var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let rest = max((end - ContinuousClock.now) / .milliseconds(1), 0)
    guard rest > 0, poll(&awaited, 1, Int32(rest.rounded(.up))) == 1 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 2048)
    var source = Self.address(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let count = withUnsafeMutablePointer(to: &source) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        recvfrom(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), $0, &length)
      }
    }
    return count > 0 ? (Array(buffer[..<count]), UInt16(bigEndian: source.sin_port)) : nil
  }

  /// `nil` when nothing comes.
  func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 2048)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
