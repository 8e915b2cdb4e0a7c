import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore
import SecureTransport
import Testing

/// An app's speech goes through our bridge to SIPp, which echoes it, and comes back through our bridge.
enum EchoCases {
  static let text = "Thank you for calling. Please hold the line."
  static func cases(_ app: PythonPeer.Script) -> [PeerCase] {
    [
      make(app, appOffers: true, weOpen: false, .pcmu),
      make(app, appOffers: false, weOpen: true, .pcma),
      make(app, appOffers: true, weOpen: true, .pcma, isLong: true),
      make(app, appOffers: false, weOpen: false, .pcmu, isLong: true),
    ]
  }

  /// Which app listens to a bridge with a planted fault.
  struct Planted: Sendable, CustomTestStringConvertible {
    let app: PythonPeer.Script
    var testDescription: String { "\(app)" }
  }

  static let plantedLoss = [Planted(app: .aiortc)] + (PythonPeer.hasChromium ? [Planted(app: .chromium)] : [])

  /// The same while somebody sprays every port of the call, from before it is set up to its end.
  static let attacked = PeerCase(
    peer: "aiortc", transport: "DTLS", "speech and digits while every port is sprayed by a stranger",
    expected: "as without: nothing injected, nothing answered, nothing ended"
  ) {
    try await GatewayUnderTest.run { gateway in
      let attacker = try MediaAttacker()
      async let spraying: Void = attacker.spray(app: gateway.appPort, trunk: { gateway.log.trunkPorts })
      let result: String
      do {
        // A port that is flooded may overflow, so nobody counts what is missing.
        result = try await run(gateway, .aiortc, appOffers: true, weOpen: false, .pcmu, countsPackets: false) { call in
          let dropped = call.statistics(.far).last?.dropped[DropReason.source.rawValue] ?? 0
          try require(dropped > 1_000, "the trunk leg dropped \(dropped) packets of the stranger")
        }
      } catch {
        attacker.stop()
        _ = try? await spraying
        throw error
      }
      attacker.stop()
      try await spraying
      try require(attacker.packets > 5_000, "only \(attacker.packets) packets were sprayed")
      let replies = attacker.replies()
      try require(replies == 0, "\(replies) datagrams went to the stranger")
      return "\(result); \(attacker.packets) packets of a stranger, none answered"
    }
  }

  /// - Parameter weOpen: Whether we are the DTLS client.
  private static func make(
    _ app: PythonPeer.Script, appOffers: Bool, weOpen: Bool, _ codec: AudioCodec, isLong: Bool = false
  ) -> PeerCase {
    PeerCase(
      peer: app == .aiortc ? "aiortc" : "Chromium", transport: "DTLS",
      "speech and digits: \(appOffers ? "it" : "we") offer\(appOffers ? "s" : ""), DTLS \(weOpen ? "client" : "server"), "
        + "SIPp echoes \(codec.rawValue)",
      expected: "PESQ of the codecs alone, every word, digits exact", isLong: isLong
    ) {
      try await GatewayUnderTest.run { gateway in
        try await run(gateway, app, appOffers: appOffers, weOpen: weOpen, codec)
      }
    }
  }

  static func run(
    _ gateway: GatewayUnderTest, _ app: PythonPeer.Script, appOffers: Bool, weOpen: Bool, _ codec: AudioCodec,
    countsPackets: Bool = true, beforeTheEnd check: (BridgedCall) throws -> Void = { _ in }
  ) async throws -> String {
    let folder = try TemporaryFolder("echo")
    let speech = try await Speech(text, in: folder)
    try await SoundJudge.shared.prepare()
    async let telephone = echo(codec)
    var arguments = ["--setup", weOpen ? "passive" : "active"]
    // What a browser makes of the first packets of a stream is no matter of ours: they are silence.
    let microphone = folder.url.appendingPathComponent("microphone.wav")
    try SoundFile(speech.file).padded(before: 1, after: 2).write(to: microphone)
    if app == .chromium { arguments += ["--microphone", microphone.path] }
    let peer = try await PythonPeer(app, arguments)
    let call = try await gateway.open(BridgedCall.Terms([codec]))
    let (connected, suite) = try await call.join(peer, appOffers: appOffers)
    try require(connected.text("role") == (weOpen ? "server" : "client"), "our DTLS role: \(connected)")
    // Whoever is the server chooses, and we prefer authenticated encryption.
    if !weOpen { try require(suite == .aesGCM128 || suite == .aesGCM256, "AEAD GCM, not \(suite?.rawValue ?? "none")") }
    let sipp = try await telephone
    try await call.dial(sipp.port)
    try await call.answered()

    let original = try SoundFile(speech.file)
    let listened = try await Listening.during {
      try await recorded(by: peer, saying: microphone, as: app, in: folder)
    }
    let packets = countsPackets ? try await SoundControl.packets(of: peer) : nil

    // SIPp echoes the digits as well.
    try peer.run("dtmf", ["digits": "159#"])
    try require(try await call.digits(.near, count: 4) == "159#", "the app's digits: \(call.digits(.near))")
    try require(try await call.digits(.far, count: 4) == "159#", "the trunk's digits: \(call.digits(.far))")
    try await peer.event("dtmf-sent")
    if app == .chromium { try await reports(call, peer) }
    try check(call)
    try await call.hangUp()
    try await sipp.succeeds()
    try? peer.run("close")

    let alone = folder.url.appendingPathComponent("codecs.wav")
    try original.echoed(over: codec).write(to: alone)
    let best = try await SoundJudge.shared.quality(of: alone, reference: speech.file)
    guard let bestPESQ = best.number("pesq") else { throw PeerFailure("no PESQ: \(best)") }
    let figures = try await SoundControl.figures(
      of: listened.value, reference: speech.file, text: text, atLeast: bestPESQ - (SoundControl.mostLost[app] ?? 0))
    try ListeningCase.judge(
      Heard(figures, packets: packets, lateness: listened.lateness, seconds: listened.seconds),
      control: SoundControl.echo(app))
    return "codecs alone \(rounded(bestPESQ)), \(figures.map(\.description).joined(separator: ", ")), "
      + "\(suite?.rawValue ?? "")"
  }

  /// Each side knows from the other's reports how long a packet is on its way (RFC 3550 section 6.4.1).
  private static func reports(_ call: BridgedCall, _ peer: PythonPeer) async throws {
    _ = try await Deadline(seconds: 15).first("round trip in Chromium's figures", everyMilliseconds: 200) {
      let statistics = try await peer.ask("stats", for: "stats")
      return statistics.number("roundTripSeconds").flatMap { $0 < 5 ? $0 : nil }
    }
    let own = try await call.event("figures with a round trip") { event -> Double? in
      if case .statistics(.near, let statistics) = event { return statistics.roundTrip }
      return nil
    }
    try require(own >= 0 && own < 5_000, "a round trip of \(own) ms")
  }

  static func echo(_ codec: AudioCodec) async throws -> SIPpPeer {
    var options = SIPpPeer.Options()
    options.echoesMedia = true
    options.patienceMilliseconds = 60_000
    options.keys = ["format": codec == .pcmu ? "0" : "8", "encoding": codec == .pcmu ? "PCMU" : "PCMA"]
    return try await SIPpPeer(SIPpCase.scenario("answer-echo"), as: .server, options)
  }

  /// The app says its speech and records what comes back.
  static func recorded(
    by peer: PythonPeer, saying speech: URL, as app: PythonPeer.Script, in folder: TemporaryFolder
  ) async throws -> URL {
    _ = try await peer.ask("record", for: "recording")
    if app == .chromium {
      _ = try await peer.ask("play", for: "playing")
    } else {
      _ = try await peer.ask("play", ["file": speech.path], for: "playing")
    }
    return try await recording(of: peer, seconds: SoundFile(speech).seconds, in: folder)
  }

  /// Waits until a recording is this long.
  static func recording(of peer: PythonPeer, seconds: Double, in folder: TemporaryFolder) async throws -> URL {
    let file = folder.url.appendingPathComponent("heard-\(UUID().uuidString).wav")
    return try await Deadline(seconds: 30).first("recording of \(seconds) s", everyMilliseconds: 200) {
      guard try await peer.ask("length", for: "length").number("seconds") ?? 0 >= seconds else { return nil }
      _ = try await peer.ask("save", ["file": file.path], for: "saved")
      return file
    }
  }
}

/// Two decimals.
func rounded(_ value: Double?) -> String {
  value.map { String(format: "%.2f", $0) } ?? "none"
}
