import Foundation
import Glibc
import PeerKit
import Testing

@Suite("A relay between sockets")
struct RelayTests {
  /// A socket on loopback that waits for a datagram, but not for ever.
  private final class Port {
    let number: UInt16
    private let descriptor: Int32

    init() throws {
      (descriptor, number) = try FreePort.bound(isDatagram: true)
    }

    deinit { close(descriptor) }

    func send(_ text: String, to port: UInt16) -> Bool {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let bytes = Array(text.utf8)
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == bytes.count
        }
      }
    }

    func receive(withinMilliseconds time: Int32 = 10_000) -> (text: String, from: UInt16)? {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, time) == 1 else { return nil }
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      var bytes = [UInt8](repeating: 0, count: 2048)
      let count = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          recvfrom(descriptor, &bytes, bytes.count, 0, $0, &length)
        }
      }
      guard count >= 0 else { return nil }
      return (String(decoding: bytes[..<count], as: UTF8.self), UInt16(bigEndian: address.sin_port))
    }
  }

  private func refused(_ arguments: [String]) async throws -> LandlineProcess.Result {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    return try await process.run(["simulate", "relay"] + arguments, of: LandlineProcess.lab)
  }

  @Test("each client gets a port of its own, and everything comes twice where that was asked for")
  func doubles() throws {
    let target = try Port()
    let process = Process()
    process.executableURL = LandlineProcess.lab
    process.arguments = [
      "simulate", "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(target.number)", "--delay", "2",
      "--duplicate", "100", "--duration", "60", "--json",
    ]
    let output = Pipe()
    let diagnostics = Pipe()
    process.standardOutput = output
    process.standardError = diagnostics
    try process.run()
    defer { if process.isRunning { process.terminate() } }
    let greeting = String(decoding: diagnostics.fileHandleForReading.availableData, as: UTF8.self)
    let digits = try #require(greeting.firstMatch(of: /"127\.0\.0\.1:([0-9]+)"/)).1
    let relay = try #require(UInt16(digits))
    let clients = [try Port(), try Port()]
    var seenFrom: [Set<UInt16>] = [[], []]
    for round in 0..<20 {
      let index = round % 2
      #expect(clients[index].send("ask \(round)", to: relay))
      for _ in 0..<2 {
        let asked = try #require(target.receive())
        #expect(asked.text == "ask \(round)")
        seenFrom[index].insert(asked.from)
        #expect(target.send("answer \(round)", to: asked.from))
      }
      for _ in 0..<4 {
        let answered = try #require(clients[index].receive())
        #expect(answered.text == "answer \(round)" && answered.from == relay)
      }
    }
    #expect(seenFrom.allSatisfy { $0.count == 1 } && seenFrom[0].isDisjoint(with: seenFrom[1]))
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text.contains("\"clients\":2"), "\(text)")
    #expect(text.contains("{\"direction\":\"forth\",\"offered\":20,\"delivered\":40,\"lost\":0,\"duplicated\":20"))
    #expect(text.contains("{\"direction\":\"back\",\"offered\":40,\"delivered\":80,\"lost\":0,\"duplicated\":40"))
  }

  @Test("lines of standard input change the network, and give clients other ports")
  func commands() throws {
    let target = try Port()
    let client = try Port()
    let process = Process()
    process.executableURL = LandlineProcess.lab
    process.arguments = [
      "simulate", "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(target.number)", "--duration", "60",
      "--commands",
    ]
    let input = Pipe()
    let diagnostics = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = diagnostics
    try process.run()
    defer { if process.isRunning { process.terminate() } }
    let greeting = String(decoding: diagnostics.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(greeting.firstMatch(of: /127\.0\.0\.1:([0-9]+)/))
    let relay = try #require(UInt16(port.1))
    func say(_ line: String) { input.fileHandleForWriting.write(Data((line + "\n").utf8)) }
    /// Asks until `isSo` holds of what came, for a line is read a moment later.
    func ask(until isSo: ((text: String, from: UInt16)?) -> Bool) -> (text: String, from: UInt16)? {
      for number in 0..<500 {
        #expect(client.send("ask \(number)", to: relay))
        let asked = target.receive(withinMilliseconds: 100)
        if isSo(asked) { return asked }
      }
      Issue.record("nothing of what was asked for")
      return nil
    }
    let first = try #require(ask { $0 != nil }).from
    say("forth loss 100")
    #expect(ask { $0 == nil } == nil)
    #expect(target.send("answer", to: first))
    #expect(client.receive()?.text == "answer")
    say("rebind")
    say("loss 0")
    let second = try #require(ask { $0 != nil && $0?.from != first }).from
    #expect(target.send("back", to: second))
    #expect(client.receive()?.text == "back")
    say("speed 3")
    process.waitUntilExit()
    let told = String(decoding: diagnostics.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(process.terminationStatus == 2 && told.contains("there is no \"speed\""), "\(told)")
  }

  @Test("it ends by itself after its time, and tells that nothing came")
  func duration() async throws {
    let result = try await refused(["--listen", "[::1]:0", "--to", "127.0.0.1:9", "--duration", "0.1"])
    #expect(result.status == 0, "\(result)")
    #expect(result.diagnostics.hasPrefix("listening: [::1]:"))
    #expect(result.output.contains("clients 0, refused 0, unsent 0, in flight 0, seed 1"))
  }

  @Test(
    "what cannot be is refused",
    arguments: [
      ["--listen", "127.0.0.1:0"], ["--listen", "127.0.0.1", "--to", "127.0.0.1:9"],
      ["--listen", "127.0.0.1:0", "--to", "::1:9"], ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:99999"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--loss", "101"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--delay", "60001"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--burst", "0"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--jitter", "nan"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--duration", "0"],
      ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--rate", "x"],
    ])
  func usage(_ arguments: [String]) async throws {
    let result = try await refused(arguments)
    #expect(result.status == 2, "\(result)")
    #expect(result.output.isEmpty)
  }
}
