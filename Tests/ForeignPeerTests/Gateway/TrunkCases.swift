import CallModel
import Foundation
import PeerKit

/// What carriers run: baresip in every transport, Kamailio with a password.
enum TrunkCases {
  static let baresip: [PeerCase] = [
    telephone("UDP", .udp), telephone("TCP", .tcp), telephone("TLS", .tls), telephone("SDES", .udp, isSecure: true),
    telephone("TLS, SDES", .tls, isSecure: true, isLong: true),
  ]

  private static func telephone(
    _ name: String, _ transport: BaresipPeer.Transport, isSecure: Bool = false, isLong: Bool = false
  ) -> PeerCase {
    GatewayCase.make(
      "baresip", name, "speech and keys both ways", expected: "every word at both ends, digits exact both ways",
      isLong: isLong
    ) {
      let folder = try TemporaryFolder("telephone")
      let microphone = try await TelephoneCases.spoken(TelephoneCases.appText, "app", padded: 2, in: folder)
      let speech = try await TelephoneCases.spoken(
        TelephoneCases.telephoneText, "telephone", padded: 60, in: folder, rate: 8_000)
      let certificates = transport == .tls ? try await CertificateFolder.shared() : nil
      let sound = BaresipPeer.Sound(
        speech.padded, samplingRate: 8_000, codecs: ["PCMU/8000/1"], requiresSRTP: isSecure)
      let baresip = try await BaresipPeer(
        user: GatewayRate.number, transport: transport, answerMode: .auto, certificates: certificates, sound: sound)
      let port = transport == .tls ? baresip.tlsPort : baresip.port
      var lines = isSecure ? ["srtp: required"] : []
      if let certificates { lines += ["tls:", "  authorities: [\(certificates.authority.path)]"] }
      var settings = GatewaySettings([.init(port: port, transport: transport.rawValue, lines)])
      settings.certificates = certificates
      do {
        return try await GatewayRunning.run(settings) { gateway in
          let app = try await AppPeer(gateway)
          return try await GatewayCase.reported(app) {
            try await talked(app, baresip, sound, microphone, speech.plain, in: folder)
          }
        }
      } catch { throw PeerFailure("\(error)\nbaresip:\n\(baresip.log)") }
    }
  }

  private static func talked(
    _ app: AppPeer, _ baresip: BaresipPeer, _ sound: BaresipPeer.Sound, _ microphone: (plain: URL, padded: URL),
    _ speech: URL,
    in folder: TemporaryFolder
  ) async throws -> String {
    try await SoundJudge.shared.prepare()
    let call = try await app.established()
    let longest = max(try SoundFile(microphone.plain).seconds, try SoundFile(speech).seconds)
    let listened = try await Listening.during {
      _ = try await app.peer.ask("play", ["file": microphone.padded.path], for: "playing")
      return try await EchoCases.recording(of: app.peer, seconds: longest + 2.5, in: folder)
    }
    let packets = try await SoundControl.packets(of: app.peer)
    // Keys asked for over the protocol, and keys among the app's own sound.
    try app.peer.run("digits", ["digits": "15"])
    try await app.told("done")
    try await pressed("15", at: baresip)
    try app.peer.run("press", ["digits": "9#"])
    try await pressed("159#", at: baresip)
    for digit in ["2", "7", "*"] {
      try baresip.run("sndcode", digit)
      try require(try await app.told("digit").text("digit") == digit, "the gateway tells \(digit)")
      try require(try await app.peer.event("dtmf").text("digit") == digit, "the app hears \(digit)")
    }
    try app.hangUp()
    let money = try await app.charged(try await app.ended(), call)
    try await baresip.event("CALL_CLOSED")
    let kept = try await Deadline(seconds: 5).first("recording of baresip") { baresip.recording }
    let figures =
      try await SoundControl.figures(
        of: listened.value, reference: speech, text: TelephoneCases.telephoneText, prefix: "at the app: ")
      + SoundControl.figures(
        of: kept, reference: microphone.plain, text: TelephoneCases.appText, prefix: "at baresip: ")
    try ListeningCase.judge(
      Heard(figures, packets: packets, lateness: listened.lateness, seconds: listened.seconds),
      control: SoundControl.all([
        SoundControl.echo(.aiortc), SoundControl.telephones(sound, speech, TelephoneCases.telephoneText, in: folder),
      ]))
    return "\(figures.map(\.description).joined(separator: ", ")); 159# and 27*; \(money)"
  }

  private static func pressed(_ digits: String, at baresip: BaresipPeer) async throws {
    _ = try await Deadline(seconds: 10).first("\(digits) at baresip") {
      TelephoneCases.digits(of: baresip) == digits ? true : nil
    }
  }

  static let kamailio: [PeerCase] = [SIPpPeer.Transport.udp, .tcp].map { transport in
    GatewayCase.make(
      "Kamailio", transport.rawName, "through a proxy that wants a password",
      expected: "407 answered, sound both ways, BYE along the route"
    ) {
      var options = SIPpPeer.Options()
      options.echoesMedia = true
      let sipp = try await SIPpPeer(SIPpCase.scenario("gateway-answers"), as: .server, options)
      var proxy = KamailioPeer.Options()
      proxy.next = sipp.port
      let kamailio = try await KamailioPeer(proxy)
      let trunk = GatewaySettings.Trunk(
        port: kamailio.port, transport: transport == .udp ? "udp" : "tcp",
        ["account:", "  username: alice", "  password: \"\(KamailioPeer.password)\""])
      do {
        return try await GatewayRunning.run(GatewaySettings([trunk])) { gateway in
          let app = try await AppPeer(gateway)
          return try await GatewayCase.reported(app) {
            let call = try await app.established(GatewayRate.number, ["headers": ["x-order": "4711"]])
            let invite = sipp.message("INVITE", wasReceived: true)?.message
            try require(invite?["x-order"] == "4711", "the header passes the proxy")
            try require(invite?["Proxy-Authorization"] == nil, "credentials end at the proxy")
            let sound = try await GatewayCase.echoHeard(app)
            try app.hangUp()
            let money = try await app.charged(try await app.ended(), call)
            try await sipp.succeeds()
            try require(kamailio.count("REQUEST INVITE") == 2, "one INVITE without and one with credentials")
            try await kamailio.says("ROUTED BYE")
            return "\(sound); \(money)"
          }
        }
      } catch { throw PeerFailure("\(error)\nKamailio: \(kamailio.log.lastLines(20))\nSIPp: \(sipp.transcript)") }
    }
  }

  static let wrongPassword = GatewayCase.make(
    "Kamailio", "UDP", "a wrong password", expected: "sip.trunkAuth, two INVITEs, free"
  ) {
    let kamailio = try await KamailioPeer()
    let trunk = GatewaySettings.Trunk(port: kamailio.port, ["account:", "  username: alice", "  password: wrong"])
    return try await GatewayRunning.run(GatewaySettings([trunk])) { gateway in
      let app = try await AppPeer(gateway)
      return try await GatewayCase.reported(app) {
        let call = try await app.placed()
        let end = try await app.ended()
        try FailureCases.failed(end, code: "sip.trunkAuth")
        try require(kamailio.count("REQUEST INVITE") == 2, "2 INVITEs, not \(kamailio.count("REQUEST INVITE"))")
        try await app.uncharged(call)
        return "sip.trunkAuth, 2 INVITEs"
      }
    }
  }
}
