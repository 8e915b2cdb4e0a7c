import Foundation

/// rtpengine in user space, on ports of loopback, steered by its own control protocol.
final class RTPEngineGateway: MediaGatewayUnderTest {
  private static let ports = (16_400, 20_399)
  private static let answerSeconds = 5

  private let program: PeerProgram
  private let socket: Int32
  private let run = UUID().uuidString
  private var requests = 0
  private var calls = 0
  private(set) var sendingKeys: (app: String?, trunk: String?) = (nil, nil)

  static var isInstalled: Bool { PeerProgram.exists("rtpengine") }
  var processIdentifier: Int32 { program.identifier }

  init() throws(BenchProblem) {
    let port = try PeerProgram.freePort()
    program = try PeerProgram(
      "rtpengine",
      [
        "--config-file=none", "-f", "-E", "-L", "3", "-i", "127.0.0.1", "-n", "127.0.0.1:\(port)", "-m",
        "\(Self.ports.0)", "-M", "\(Self.ports.1)", "--table=-1", "--pidfile=/dev/null",
      ])
    socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw BenchProblem("no socket can be made") }
    try PeerProgram.waitForPort(port, seconds: 20)
    var wait = timeval(tv_sec: Self.answerSeconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw BenchProblem("rtpengine's port cannot be connected to") }
  }

  deinit { close(socket) }

  func setUp(
    _ workload: MediaWorkload, calls count: Int, app: UInt16, trunk: UInt16
  ) throws(BenchProblem) -> [CallPorts] {
    var ports: [CallPorts] = []
    let sides = CallDescription.sides(workload, app: app, trunk: trunk)
    let (offer, answer) = (sides.app.text, sides.trunk.text)
    for _ in 0..<count {
      let name = "c\(calls)"
      calls += 1
      var terms: [(String, Bencode.Value)] = [
        ("transport-protocol", .text(workload.protectsTrunk ? "RTP/SAVP" : "RTP/AVP"))
      ]
      if workload.isTranscoded {
        terms.append(
          (
            "codec",
            .dictionary([("mask", .list([.text("opus")])), ("transcode", .list([.text("PCMU")]))])
          ))
      }
      let toTrunk = try ask(
        [("call-id", .text(name)), ("command", .text("offer")), ("from-tag", .text("f")), ("sdp", .text(offer))]
          + terms)
      let toApp = try ask([
        ("call-id", .text(name)), ("command", .text("answer")), ("from-tag", .text("f")), ("to-tag", .text("t")),
        ("sdp", .text(answer)),
      ])
      guard let appPort = CallDescription.port(in: toApp), let trunkPort = CallDescription.port(in: toTrunk) else {
        throw BenchProblem("rtpengine answered without a port")
      }
      sendingKeys = (CallDescription.key(in: toApp), CallDescription.key(in: toTrunk))
      ports.append(CallPorts(app: appPort, trunk: trunkPort))
    }
    return ports
  }

  func call(_ offer: String, trunk: UInt16) throws(BenchProblem) -> AnsweredCall {
    let name = "c\(calls)"
    calls += 1
    let toTrunk = try ask([
      ("call-id", .text(name)), ("command", .text("offer")), ("from-tag", .text("f")), ("sdp", .text(offer)),
      ("ICE", .text("remove")), ("transport-protocol", .text("RTP/AVP")), ("rtcp-mux", .list([.text("demux")])),
    ])
    let trunkAnswer = CallDescription(codec: .opus, port: trunk, key: nil).text
    let toApp = try ask([
      ("call-id", .text(name)), ("command", .text("answer")), ("from-tag", .text("f")), ("to-tag", .text("t")),
      ("sdp", .text(trunkAnswer)), ("ICE", .text("force")), ("DTLS", .text("passive")),
      ("rtcp-mux", .list([.text("require")])),
    ])
    guard let port = CallDescription.port(in: toTrunk) else { throw BenchProblem("rtpengine answered without a port") }
    return AnsweredCall(answer: toApp, trunkPort: port)
  }

  func tearDown() throws(BenchProblem) {
    for call in 0..<calls {
      _ = try ask([
        ("call-id", .text("c\(call)")), ("command", .text("delete")), ("delete-delay", .text("0")),
        ("from-tag", .text("f")),
      ])
    }
    calls = 0
  }

  /// - Returns: the session description of the answer; empty where there is none.
  private func ask(_ pairs: [(String, Bencode.Value)]) throws(BenchProblem) -> String {
    requests += 1
    let text =
      "\(run)-\(requests) "
      + Bencode.write(.dictionary(pairs.sorted { $0.0 < $1.0 }))
    let sent = Array(text.utf8).withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, 0) }
    guard sent == text.utf8.count else { throw BenchProblem("rtpengine takes no commands") }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &buffer, buffer.count, 0)
    guard count > 0, let space = buffer[..<count].firstIndex(of: UInt8(ascii: " ")) else {
      throw BenchProblem("rtpengine does not answer")
    }
    let answer = Bencode.texts(buffer[(space + 1)..<count])
    guard answer["result"] == "ok" else {
      throw BenchProblem("rtpengine: \(answer["error-reason"] ?? answer["result"] ?? "no result")")
    }
    return answer["sdp"] ?? ""
  }
}
