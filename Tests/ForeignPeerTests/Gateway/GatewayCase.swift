import CallModel
import Foundation
import PeerKit

/// How cases of a whole gateway are put together.
enum GatewayCase {
  /// An app of others calls through a gateway.
  static func make(
    _ peer: String, _ transport: String, _ name: String, expected: String, isLong: Bool = false,
    _ body: @escaping @Sendable () async throws -> String
  ) -> PeerCase {
    PeerCase(
      peer: peer, transport: transport, "app calls: \(name)", expected: expected, isLong: isLong, run: body)
  }

  /// The trunk is a SIPp that answers with a script; it must go through.
  static func withSIPp(
    _ name: String, _ scenario: String, expected: String, transport: SIPpPeer.Transport = .udp, echoes: Bool = false,
    keys: [String: String] = [:], isLong: Bool = false, payer: GatewayPayer = .main, trunk: [String] = [],
    calls: [String] = [],
    _ body: @escaping @Sendable (AppPeer, SIPpPeer) async throws -> String
  ) -> PeerCase {
    make("SIPp", transport.rawName, name, expected: expected, isLong: isLong) {
      var options = SIPpPeer.Options()
      options.transport = transport
      options.echoesMedia = echoes
      options.keys = keys
      if isLong { options.patienceMilliseconds = 90_000 }
      let sipp = try await SIPpPeer(SIPpCase.scenario(scenario), as: .server, options)
      let settings = GatewaySettings(
        [.init(port: sipp.port, transport: transport == .udp ? "udp" : "tcp", trunk)], payers: [payer, .trial],
        calls: calls)
      do {
        return try await GatewayRunning.run(settings) { gateway in
          let app = try await AppPeer(gateway, as: payer)
          let happened = try await reported(app) { try await body(app, sipp) }
          try await sipp.succeeds()
          return happened
        }
      } catch {
        throw PeerFailure("\(error)\nSIPp: \(sipp.complaint)\n\(sipp.transcript)", wasLate: sipp.sawDelay)
      }
    }
  }

  /// Adds what the app was told to a failure.
  static func reported(_ app: AppPeer, _ body: () async throws -> String) async throws -> String {
    do { return try await body() } catch {
      let told = app.peer.events.filter { !["got-quality", "saved"].contains($0.name) }.map { event in
        String(event.description.prefix(600))
      }
      throw PeerFailure("\(error)\napp: \(told.joined(separator: "\n"))")
    }
  }

  /// The app says a few words and hears them again.
  /// - Returns: PESQ, correlation and delay for the table.
  static func echoHeard(_ app: AppPeer, least correlation: Double = 0.7) async throws -> String {
    let folder = try TemporaryFolder("echo")
    let speech = try await Speech("Please hold the line.", in: folder)
    let microphone = folder.url.appendingPathComponent("microphone.wav")
    try SoundFile(speech.file).padded(before: 0.3, after: 1.2).write(to: microphone)
    try await SoundJudge.shared.prepare()
    let listened = try await Listening.during {
      try await EchoCases.recorded(by: app.peer, saying: microphone, as: .aiortc, in: folder)
    }
    let packets = try await SoundControl.packets(of: app.peer)
    let quality = try await SoundJudge.shared.quality(of: listened.value, reference: speech.file)
    let alike = Heard.Figure("correlation", quality.number("correlation"), atLeast: correlation)
    try ListeningCase.judge(
      Heard([alike], packets: packets, lateness: listened.lateness, seconds: listened.seconds),
      control: SoundControl.echo(.aiortc))
    return "PESQ \(rounded(quality.number("pesq"))), \(alike), \(rounded(quality.number("delayMilliseconds"))) ms"
  }

  /// Runs what lasts a certain time, in figures that hold where nobody was late.
  static func timed<Value: Sendable>(
    _ body: () async throws -> (value: Value, figure: Heard.Figure)
  ) async throws -> Value {
    let listened = try await Listening.during(body)
    try ListeningCase.judge(
      Heard([listened.value.figure], lateness: listened.lateness, seconds: listened.seconds))
    return listened.value.value
  }
}
