import Foundation

/// Janus' AudioBridge with participants over plain RTP, told by a socket in the file system: neither a network namespace
/// nor an administrator is needed.
final class JanusMixer: ConferenceMixer {
  private static let plugin = "janus.plugin.audiobridge"
  /// Below those of rtpengine and ours.
  private static let ports = "10400-16399"
  private static let answerSeconds = 10
  private static let startSeconds = 5.0
  /// Janus 1.1.2 may begin to serve the socket before it knows that it is to, and ends.
  private static let starts = 20

  private let program: PeerProgram
  private let socket: Int32
  private var requests = 0
  private var session: UInt64 = 0
  /// What opens rooms; participants have handles of their own.
  private var manager: UInt64 = 0
  private var participants: [UInt64] = []
  private var rooms: [Int] = []
  private var lastRoom = 0
  private var buffer = [UInt8](repeating: 0, count: 262_144)

  private struct Reply: Decodable {
    struct Named: Decodable { var id: UInt64 }
    struct Outcome: Decodable { var data: Answer }
    struct Answer: Decodable {
      var error: String?
      var rtp: Address?
    }
    struct Address: Decodable { var port: UInt16 }

    var janus: String
    var transaction: String?
    var data: Named?
    var plugindata: Outcome?
  }

  /// Why there is nothing to compare with; `nil` when there is.
  static var absence: String? { MediaPackages.mixerAbsence(hasProgram: PeerProgram.exists) }

  var processIdentifier: Int32 { program.identifier }

  /// - Parameter folder: For its configuration.
  init(in folder: String) throws(BenchProblem) {
    let place = "\(folder)/janus-mixer"
    let door = "\(place)/door"
    do {
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      for (name, text) in [
        ("janus", JanusSettings.general(plugin: "audiobridge", transport: "pfunix")),
        (
          "janus.transport.pfunix",
          "general: {\n  enabled = true\n  json = \"compact\"\n  path = \"\(door)\"\n  type = \"SOCK_SEQPACKET\"\n}\n"
        ),
        (Self.plugin, "general: {\n  rtp_port_range = \"\(Self.ports)\"\n  local_ip = \"127.0.0.1\"\n}\n"),
      ] {
        try text.write(toFile: "\(place)/\(name).jcfg", atomically: true, encoding: .utf8)
      }
    } catch {
      throw BenchProblem("\(place) cannot be written: \(error.localizedDescription)")
    }
    (program, socket) = try Self.start(place, door)
    var wait = timeval(tv_sec: Self.answerSeconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    session = try named(ask("\"janus\":\"create\""))
    manager = try attach()
  }

  deinit { close(socket) }

  private static func start(_ place: String, _ door: String) throws(BenchProblem) -> (PeerProgram, Int32) {
    for _ in 0..<starts {
      unlink(door)
      let program = try PeerProgram(
        "nice", ["-n", "\(ConferencePriority.niceness)", "janus", "-F", place, "-i", "127.0.0.1"])
      let end = ProcessClock.monotonicSeconds() + startSeconds
      while program.isRunning, ProcessClock.monotonicSeconds() < end {
        usleep(50_000)
        // The socket is there for a moment even where nobody will serve it.
        if let socket = connected(door) {
          usleep(200_000)
          if program.isRunning { return (program, socket) }
          close(socket)
        }
      }
    }
    throw BenchProblem("janus does not start")
  }

  private static func connected(_ door: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array(door.utf8)
    guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if result == 0 { return socket }
    close(socket)
    return nil
  }

  func confer(_ workload: ConferenceWorkload, port: UInt16) throws(BenchProblem) -> [UInt16] {
    var ports: [UInt16] = []
    let codec = workload.codec.isOpus ? "opus" : "pcmu"
    let number = workload.codec.isOpus ? CallDescription.opusNumber : 0
    for _ in 0..<workload.rooms {
      lastRoom += 1
      rooms.append(lastRoom)
      _ = try message(
        manager,
        """
        {"request":"create","room":\(lastRoom),"sampling_rate":\(workload.samplingRate),\
        "default_bitrate":\(ConferenceWorkload.bitRate),"allow_rtp_participants":true}
        """)
      let levels = workload.codec.isOpus ? ",\"audiolevel_ext\":\(ConferenceWorkload.levels)" : ""
      for _ in 0..<workload.people {
        let participant = try attach()
        participants.append(participant)
        let answer = try message(
          participant,
          """
          {"request":"join","room":\(lastRoom),"codec":"\(codec)",\
          "rtp":{"ip":"127.0.0.1","port":\(port),"payload_type":\(number)\(levels)}}
          """)
        guard let address = answer?.rtp else { throw BenchProblem("janus answered without a port") }
        ports.append(address.port)
      }
    }
    return ports
  }

  func tearDown() throws(BenchProblem) {
    for participant in participants {
      _ = try ask("\"janus\":\"detach\",\"session_id\":\(session),\"handle_id\":\(participant)")
    }
    for room in rooms { _ = try message(manager, "{\"request\":\"destroy\",\"room\":\(room)}") }
    participants = []
    rooms = []
  }

  private func attach() throws(BenchProblem) -> UInt64 {
    try named(ask("\"janus\":\"attach\",\"session_id\":\(session),\"plugin\":\"\(Self.plugin)\""))
  }

  private func named(_ reply: Reply) throws(BenchProblem) -> UInt64 {
    guard let data = reply.data else { throw BenchProblem("janus says \(reply.janus) without a number") }
    return data.id
  }

  private func message(_ handle: UInt64, _ body: String) throws(BenchProblem) -> Reply.Answer? {
    let answer = try ask(
      "\"janus\":\"message\",\"session_id\":\(session),\"handle_id\":\(handle),\"body\":\(body)"
    ).plugindata?.data
    if let error = answer?.error { throw BenchProblem("janus: \(error)") }
    return answer
  }

  private func ask(_ members: String) throws(BenchProblem) -> Reply {
    requests += 1
    let text = Array("{\(members),\"transaction\":\"\(requests)\"}".utf8)
    guard send(socket, text, text.count, Int32(MSG_NOSIGNAL)) == text.count else {
      throw BenchProblem("janus takes no commands")
    }
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { throw BenchProblem("janus does not answer") }
      // What happens to others is told as well, and that a command came in.
      guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(buffer[..<count])),
        reply.transaction == "\(requests)", reply.janus != "ack"
      else { continue }
      guard reply.janus != "error" else {
        throw BenchProblem("janus: \(String(decoding: buffer[..<count], as: UTF8.self))")
      }
      return reply
    }
  }
}
