import CallModel
import Foundation
import PeerKit

/// Telephones of others at the far end of a trunk put the other side through (RFC 3515, RFC 3891).
enum TransferCases {
  private static let bobsNumber = "+46850000536"
  private static let carolsNumber = "+46850000537"

  private struct Scene: Sendable {
    let gateway: GatewayRunning
    let bob: AppPeer
    let carol: AppPeer

    /// The two talk with each other, hang up, and nobody has paid anything.
    func talk(_ first: AppPeer, _ second: AppPeer) async throws -> String {
      let heard = [
        try await UserCases.heard(by: second, from: first, "We have been put through to each other."),
        try await UserCases.heard(by: first, from: second, "And both of us hear it well."),
      ]
      try second.hangUp()
      for app in [first, second] {
        try require(try await app.ended().text("cause") == "hungUp", "\(app.user) hears the end")
      }
      return heard.joined(separator: ", ")
    }
  }

  /// linphone is the carrier: it calls.
  private static func make(
    _ name: String, peer: String = "linphone", expected: String,
    _ body: @escaping @Sendable (Scene, LinphonePeer) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: peer, transport: "UDP", "transfer: \(name)", expected: expected) {
      try await run(.init("first", uri: "sip:127.0.0.1:5060", ["transfers: true"])) { scene in
        let linphone = try await LinphonePeer()
        do { return try await body(scene, linphone) } catch {
          throw PeerFailure("\(error)\nlinphone:\n\(linphone.log)")
        }
      }
    }
  }

  /// linphone calls bob through a port of loopback, and they talk.
  private static func callsBob(_ linphone: LinphonePeer, _ scene: Scene, through port: UInt16) async throws {
    try linphone.run("call sip:\(bobsNumber)@127.0.0.1:\(port)")
    try await scene.bob.answers()
    try await linphone.state("StreamsRunning")
  }

  private static func run(
    _ trunk: GatewaySettings.Trunk, _ body: @escaping @Sendable (Scene) async throws -> String
  ) async throws -> String {
    var settings = GatewaySettings([trunk])
    settings.sandboxHasTrunks = true
    settings.numbers = ["\"\(bobsNumber)\": {user: bob}", "\"\(carolsNumber)\": {user: carol}"]
    return try await GatewayRunning.run(settings) { gateway in
      let features: [String: any Sendable] = ["features": ["incoming.1"]]
      let bob = try await AppPeer(gateway, as: .trial, user: "bob", features)
      let carol = try await AppPeer(gateway, as: .trial, user: "carol", features)
      let scene = Scene(gateway: gateway, bob: bob, carol: carol)
      return try await GatewayCase.reported(bob) { try await GatewayCase.reported(carol) { try await body(scene) } }
    }
  }

  static let linphone: [PeerCase] = [
    make(
      "calls bob, then carol, and joins the two (Replaces)",
      expected: "202, NOTIFY to 200; bob and carol hear each other"
    ) { scene, linphone in
      let sip = scene.gateway.ports.sip
      try await callsBob(linphone, scene, through: sip)
      // It holds the first call while it makes the second.
      try linphone.run("call-pause 1")
      try await linphone.state("Paused")
      try linphone.run("call sip:\(carolsNumber)@127.0.0.1:\(sip)")
      try await scene.carol.answers()
      try await linphone.state("StreamsRunning", of: 2)
      try linphone.run("call-transfer 1 2")
      for call in [1, 2] { try await linphone.state("End", of: call) }
      for app in [scene.bob, scene.carol] { try await app.told("transfer") }
      return try await scene.talk(scene.bob, scene.carol)
    },
    make(
      "through a proxy, and puts bob through to carol", peer: "linphone, Kamailio",
      expected: "REFER and NOTIFY along the route; bob and carol hear each other"
    ) { scene, linphone in
      var options = KamailioPeer.Options()
      options.next = scene.gateway.ports.sip
      options.challengesCalls = false
      let kamailio = try await KamailioPeer(options)
      do {
        try await callsBob(linphone, scene, through: kamailio.port)
        try linphone.run("call-transfer 1 sip:\(carolsNumber)@127.0.0.1:\(kamailio.port)")
        try await scene.carol.answers()
        try await scene.bob.told("transfer")
        try await linphone.state("End")
        for method in ["ACK", "REFER", "NOTIFY", "BYE"] { try await kamailio.says("ROUTED \(method)") }
        return try await scene.talk(scene.bob, scene.carol)
      } catch { throw PeerFailure("\(error)\nKamailio:\n\(kamailio.log.lastLines(30))") }
    },
    make("puts bob through to what is no number", expected: "403 in a NOTIFY; bob and linphone go on") {
      scene, linphone in
      let sip = scene.gateway.ports.sip
      try await callsBob(linphone, scene, through: sip)
      try linphone.run("call-transfer 1 sip:+4612@127.0.0.1:\(sip)")
      _ = try await Deadline(seconds: 10).first("refused transfer at linphone") { () -> Bool? in
        linphone.log.contains("SIP/2.0 403") ? true : nil
      }
      let folder = try TemporaryFolder("linphone")
      let speech = try await Speech("The line is still open.", in: folder)
      let heard = try await linphoneHeard(by: scene.bob, speech, linphone, seconds: 4, in: folder)
      let quality = try await SoundJudge.shared.quality(of: heard.value, reference: speech.file)
      let alike = Heard.Figure("correlation", quality.number("correlation"), atLeast: 0.7)
      try ListeningCase.judge(Heard([alike], lateness: heard.lateness, seconds: heard.seconds))
      try scene.bob.hangUp()
      try await linphone.state("End")
      return "\(alike)"
    },
  ]

  /// linphone plays speech into its first call, and an app records it.
  static func linphoneHeard(
    by app: AppPeer, _ speech: Speech, _ linphone: LinphonePeer, seconds: Double, in folder: TemporaryFolder
  ) async throws -> Listening.Result<URL> {
    // It sends nothing where its file has ended.
    let padded = folder.url.appendingPathComponent("padded.wav")
    try SoundFile(speech.file).padded(before: 0.5, after: 4).write(to: padded)
    try await SoundJudge.shared.prepare()
    return try await Listening.during {
      _ = try await app.peer.ask("record", for: "recording")
      try linphone.run("incall-player-start \(padded.path)")
      return try await EchoCases.recording(of: app.peer, seconds: seconds, in: folder)
    }
  }

  /// An app calls a telephone, which puts it through.
  static let baresip = PeerCase(
    peer: "baresip", transport: "UDP", "transfer: a called telephone puts the app through",
    expected: "NOTIFY to 200, baresip hangs up; the app and carol hear each other"
  ) {
    let baresip = try await BaresipPeer(user: GatewayRate.number, transport: .udp, answerMode: .auto)
    return try await run(.init(port: baresip.port, ["transfers: true"])) { scene in
      do {
        _ = try await scene.bob.established()
        try await baresip.event("CALL_ESTABLISHED")
        try baresip.run("transfer", "sip:\(carolsNumber)@127.0.0.1:\(scene.gateway.ports.sip)")
        try await scene.carol.answers()
        try await scene.bob.told("transfer")
        try await baresip.event("CALL_CLOSED")
        return try await scene.talk(scene.bob, scene.carol)
      } catch { throw PeerFailure("\(error)\nbaresip:\n\(baresip.log.lastLines(60))") }
    }
  }
}
