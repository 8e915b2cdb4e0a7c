import Foundation

/// One call of another implementation through a gateway under load: how its speech sounds and how long it takes.
enum ProbeCall {
  struct Direction: Sendable, Codable {
    struct Delay: Sendable, Codable {
      var mean: Double
      var p50: Double
      var p99: Double
      var most: Double
    }
    var sent: Int
    var received: Int
    /// Milliseconds from the socket of the sender to that of the receiver.
    var delay: Delay?
    /// Milliseconds of the sound beyond that of its packets.
    var audioDelay: Double?
    /// PESQ narrow band: of what came out against what went in, against the original, and of the codecs alone.
    var pesq: Double?
    var original: Double?
    var codecOnly: Double?
  }

  struct Result: Sendable, Codable {
    var aToB: Direction
    var bToA: Direction
    /// The bar of the budgets: 4.0 against what went in, both ways.
    var isGood: Bool { [aToB, bToA].allSatisfy { ($0.pesq ?? 0) >= 4 } }
  }

  /// A leg as the script takes it.
  private struct Leg: Encodable {
    var port: Int
    var to: Int
    var codec: String
    var send: String?
    var receive: String?
  }
  private struct Terms: Encodable {
    var a: Leg
    var b: Leg
    var speech: String
    var seconds: Double
  }

  /// The Python environment and the script; `nil` where one is absent.
  struct Program: Sendable {
    let python: String
    let script: String

    init?() {
      let named = ProcessInfo.processInfo.environment["LANDLINE_PEERS"] ?? ".build-peers"
      (python, script) = ("\(named)/bin/python", "Tests/PeerKit/Scripts/rtp_probe.py")
      guard access(python, X_OK) == 0, access(script, R_OK) == 0 else { return nil }
    }

    static let absence =
      "no probe call was judged: run Deploy/peers-python, then this from the project's folder"
  }

  static func run(
    _ program: Program, _ workload: MediaWorkload, through gateway: any MediaGatewayUnderTest, _ ports: CallPorts,
    app: UInt16, trunk: UInt16, seconds: Double, tools: MediaTools
  ) throws(BenchProblem) -> Result {
    let terms = Terms(
      a: Leg(
        port: Int(app), to: Int(ports.app), codec: workload.app.rawValue,
        send: workload.protectsApp ? MediaWorkload.Keys.app : nil, receive: gateway.sendingKeys.app),
      b: Leg(
        port: Int(trunk), to: Int(ports.trunk), codec: workload.trunk.rawValue,
        send: workload.protectsTrunk ? MediaWorkload.Keys.trunk : nil, receive: gateway.sendingKeys.trunk),
      speech: tools.speechFile, seconds: seconds)
    do {
      let argument = String(decoding: try JSONEncoder().encode(terms), as: UTF8.self)
      let said = try MediaTools.run("nice", ["-n", "-18", program.python, program.script, argument], in: tools.folder)
      let line = said.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
      return try JSONDecoder().decode(Result.self, from: Data(line.utf8))
    } catch {
      throw BenchProblem("the probe call: \(error)")
    }
  }
}
