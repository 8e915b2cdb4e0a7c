import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// Telephones of others that register as devices of a user.
enum DeskPhoneCases {
  private static let password = "a-long-enough-password"
  private static let inbound = "+46850000536"
  /// Another host than the telephone's: who calls from a trunk's address is that trunk.
  private static let carrier = "127.0.0.2"

  private struct Scene: Sendable {
    let gateway: GatewayRunning
    /// Bob's telephone, which answers by itself and speaks.
    let phone: BaresipPeer
    let sound: BaresipPeer.Sound
    /// What the telephone says.
    let speech: URL
    /// What apps say.
    let microphone: (plain: URL, padded: URL)
    let folder: TemporaryFolder

    /// Waits until the gateway lists its registration.
    func registered() async throws -> DeskPhoneReport.Registration {
      try await Deadline(seconds: 10).first("registration of the telephone", everyMilliseconds: 20) {
        await gateway.operations.deskPhones(environment: "sandbox").first?.registrations.first
      }
    }
  }

  private static func make(
    _ name: String, _ transport: BaresipPeer.Transport = .udp, answerMode: BaresipPeer.AnswerMode = .auto,
    hasTrunk: Bool = false, expected: String,
    _ body: @escaping @Sendable (Scene) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "baresip", transport: transport.rawValue.uppercased(), "desk phone: \(name)", expected: expected) {
      let folder = try TemporaryFolder("desk-phone")
      let microphone = try await TelephoneCases.spoken(TelephoneCases.appText, "app", padded: 2, in: folder)
      let speech = try await TelephoneCases.spoken(
        TelephoneCases.telephoneText, "telephone", padded: 60, in: folder, rate: 8_000)
      let sound = BaresipPeer.Sound(speech.padded, samplingRate: 8_000, codecs: ["PCMU/8000/1"])
      var settings = GatewaySettings([.init("first", uri: "sip:\(carrier):5060")])
      settings.sandboxHasTrunks = hasTrunk
      settings.deskPhones = ["lobby: {user: bob, password: \(password), country: 46}"]
      settings.numbers = ["\"\(inbound)\": {user: bob}"]
      return try await GatewayRunning.run(settings) { gateway in
        let phone = try await BaresipPeer(
          user: "lobby", transport: transport, answerMode: answerMode, sound: sound,
          registrar: .init(port: gateway.ports.sip, password: password))
        let scene = Scene(
          gateway: gateway, phone: phone, sound: sound, speech: speech.plain, microphone: microphone, folder: folder)
        do {
          let registration = try await scene.registered()
          try require(
            registration.address.hasPrefix("\(transport.rawValue):127.0.0.1:")
              && registration.userAgent.hasPrefix("baresip") && (590...600).contains(registration.expiresInSeconds),
            "where it is registered: \(registration)")
          return try await body(scene)
        } catch { throw PeerFailure("\(error)\nbaresip:\n\(phone.log)") }
      }
    }
  }

  /// What each says is heard by the other, word by word; then the app hangs up.
  private static func talk(_ scene: Scene, _ app: AppPeer) async throws -> String {
    try await SoundJudge.shared.prepare()
    let longest = max(try SoundFile(scene.microphone.plain).seconds, try SoundFile(scene.speech).seconds)
    let listened = try await Listening.during {
      _ = try await app.peer.ask("play", ["file": scene.microphone.padded.path], for: "playing")
      return try await EchoCases.recording(of: app.peer, seconds: longest + 2.5, in: scene.folder)
    }
    let packets = try await SoundControl.packets(of: app.peer)
    try app.hangUp()
    _ = try await app.ended()
    try await scene.phone.event("CALL_CLOSED")
    let kept = try await Deadline(seconds: 5).first("recording of baresip") { scene.phone.recording }
    let figures =
      try await SoundControl.figures(
        of: listened.value, reference: scene.speech, text: TelephoneCases.telephoneText, prefix: "at the app: ")
      + SoundControl.figures(
        of: kept, reference: scene.microphone.plain, text: TelephoneCases.appText, prefix: "at the telephone: ")
    try ListeningCase.judge(
      Heard(figures, packets: packets, lateness: listened.lateness, seconds: listened.seconds),
      control: SoundControl.all([
        SoundControl.echo(.aiortc),
        SoundControl.telephones(scene.sound, scene.speech, TelephoneCases.telephoneText, in: scene.folder),
      ]))
    return figures.map(\.description).joined(separator: ", ")
  }

  /// Waits until the call that is up has been answered for so long.
  private static func lasts(_ scene: Scene, _ seconds: Double) async throws {
    _ = try await Deadline(seconds: seconds + 10).first("call of \(seconds) s", everyMilliseconds: 50) { () -> Bool? in
      guard let answered = await scene.gateway.operations.liveCalls(environment: nil).first?.answeredAt else {
        return nil
      }
      let now = Date().timeIntervalSince1970 * 1000
      return now - Double(answered.milliseconds) >= seconds * 1000 ? true : nil
    }
  }

  /// The telephone's own words come back to it; then it hangs up.
  private static func echoed(_ scene: Scene, _ call: () async throws -> Void) async throws -> String {
    try await SoundJudge.shared.prepare()
    let seconds = try SoundFile(scene.speech).seconds
    let listened = try await Listening.during {
      try await call()
      try await scene.phone.event("CALL_ESTABLISHED")
      try await lasts(scene, seconds + 2.5)
      try scene.phone.run("hangup")
      return try await Deadline(seconds: 5).first("recording of baresip") { scene.phone.recording }
    }
    let figures = try await SoundControl.figures(
      of: listened.value, reference: scene.speech, text: TelephoneCases.telephoneText, prefix: "echo: ")
    try ListeningCase.judge(
      Heard(figures, lateness: listened.lateness, seconds: listened.seconds),
      control: SoundControl.telephones(scene.sound, scene.speech, TelephoneCases.telephoneText, in: scene.folder))
    return figures.map(\.description).joined(separator: ", ")
  }

  private static func onlyRecord(_ scene: Scene) async throws -> CallRecord {
    let records = try scene.gateway.stores("sandbox").records
    return try await Deadline(seconds: 5).first("record", everyMilliseconds: 20) {
      try await records.records(.init()).records.first
    }
  }

  static let baresip: [PeerCase] =
    [BaresipPeer.Transport.udp, .tcp].map { transport in
      make("an app calls its user", transport, expected: "it rings, answers, words heard both ways") { scene in
        let alice = try await AppPeer(scene.gateway, as: .trial)
        return try await GatewayCase.reported(alice) {
          _ = try await alice.established("bob", ["kind": "user"])
          let figures = try await talk(scene, alice)
          let record = try await onlyRecord(scene)
          let story = record.story.map(\.text)
          try require(
            story.contains("accepted on desk phone lobby") && record.summary.costMicro ?? 0 == 0,
            "its record: \(record)")
          return figures
        }
      }
    } + [
      make("it calls an app's user", expected: "bob's call, words heard both ways") { scene in
        let eve = try await AppPeer(scene.gateway, as: .trial, user: "eve", ["features": ["incoming.1"]])
        return try await GatewayCase.reported(eve) {
          try scene.phone.run("dial", "eve")
          let incoming = try await eve.told("incoming")
          try require(
            incoming.text("from.kind") == "user" && incoming.text("from.value") == "bob", "who calls: \(incoming)")
          try eve.peer.run("alert", ["early": true])
          try await eve.told("answer")
          try await eve.peer.event("connected")
          try eve.peer.run("accept")
          try await eve.told("established")
          let figures = try await talk(scene, eve)
          let record = try await onlyRecord(scene)
          try require(
            record.call.user?.text == "bob" && record.call.destination == "eve" && record.call.from?.value == "bob",
            "its record: \(record)")
          return figures
        }
      },
      make("it calls a phone number", expected: "sound both ways; the application's account pays") { scene in
        // As people dial at home.
        try scene.phone.run("dial", "0701234567")
        try await scene.phone.event("CALL_ESTABLISHED")
        try await lasts(scene, 3)
        try scene.phone.run("hangup")
        let record = try await onlyRecord(scene)
        let scores = [record.meanScoreNear ?? 0, record.meanScoreFar ?? 0]
        try require(scores.allSatisfy { $0 > 3.5 }, "sound of both sides: \(scores)")
        try require(
          record.call.destination == "+46701234567" && record.call.user?.text == "bob"
            && record.call.account.text == GatewayPayer.trial.name && record.callerNumber == GatewayRate.caller,
          "its record: \(record)")
        return "scores \(scores), cost \(record.summary.costMicro ?? 0)"
      },
      make("a carrier calls its number", hasTrunk: true, expected: "it rings, answers, its words come back") { scene in
        var text = String(decoding: try Data(contentsOf: SIPpCase.scenario("call-arrives")), as: UTF8.self)
        // A telephone adds no header of ours, and may answer before it rings.
        for line in [
          "<recv response=\"180\"/>",
          "      <ereg regexp=\"7\" search_in=\"hdr\" header=\"x-room:\" check_it=\"true\" assign_to=\"room\"/>\n",
        ] {
          text = text.replacing(line, with: line.contains("180") ? "<recv response=\"180\" optional=\"true\"/>" : "")
        }
        text = text.replacing(",room\"", with: "\"")
        var options = SIPpPeer.Options()
        options.user = inbound
        options.ownHost = carrier
        options.echoesMedia = true
        let carrier = try await SIPpPeer(
          named: "call-arrives", text, as: .client(target: scene.gateway.ports.sip), options)
        do {
          let figures = try await echoed(scene) {}
          try await carrier.succeeds()
          return figures
        } catch { throw PeerFailure("\(error)\n\(carrier.transcript)") }
      },
      make(
        "an app answers in its place", answerMode: .manual, expected: "CANCEL says that it was answered elsewhere"
      ) { scene in
        let bob = try await AppPeer(scene.gateway, as: .trial, user: "bob", ["features": ["incoming.1"]])
        let alice = try await AppPeer(scene.gateway, as: .trial)
        return try await GatewayCase.reported(alice) {
          _ = try await alice.placed("bob", ["kind": "user"])
          try await bob.told("incoming")
          try await scene.phone.event("CALL_INCOMING")
          try await alice.told("ringing")
          try bob.peer.run("alert", ["early": true])
          try await bob.told("answer")
          try await bob.peer.event("connected")
          try bob.peer.run("accept")
          try await alice.told("established")
          try await scene.phone.event("CALL_CLOSED")
          _ = try await Deadline(seconds: 5).first("reason of the CANCEL") {
            scene.phone.log.contains("SIP;cause=200;text=\"Call completed elsewhere\"") ? true : nil
          }
          try alice.hangUp()
          _ = try await alice.ended()
          return "the telephone rings no longer"
        }
      },
    ]

  static let linphone = PeerCase(
    peer: "linphone", transport: "UDP", "desk phone: SHA-256, an app calls its user",
    expected: "challenged for SHA-256 first; it rings, answers, and is heard"
  ) {
    var settings = GatewaySettings()
    settings.deskPhones = ["lobby: {user: bob, password: \(password)}"]
    settings.deskPhoneAlgorithms = "SHA-256, MD5"
    return try await GatewayRunning.run(settings) { gateway in
      let folder = try TemporaryFolder("linphone")
      let speech = try await Speech(TelephoneCases.telephoneText, in: folder)
      let linphone = try await LinphonePeer()
      do {
        try await linphone.register("lobby", at: gateway.ports.sip, password: password)
        try require(linphone.log.contains("algorithm=SHA-256"), "it answers the challenge for SHA-256")
        let alice = try await AppPeer(gateway, as: .trial)
        return try await GatewayCase.reported(alice) {
          _ = try await alice.placed("bob", ["kind": "user"])
          try await linphone.state("IncomingReceived")
          try await alice.told("ringing")
          try linphone.run("answer 1")
          try await alice.told("established")
          try await alice.peer.event("connected")
          try await linphone.state("StreamsRunning")
          let heard = try await TransferCases.linphoneHeard(
            by: alice, speech, linphone, seconds: SoundFile(speech.file).seconds + 2, in: folder)
          let figures = try await SoundControl.figures(
            of: heard.value, reference: speech.file, text: TelephoneCases.telephoneText, prefix: "at the app: ")
          try ListeningCase.judge(Heard(figures, lateness: heard.lateness, seconds: heard.seconds))
          try linphone.run("terminate 1")
          try require(try await alice.ended().text("cause") == "hungUp", "the telephone hangs up")
          return figures.map(\.description).joined(separator: ", ")
        }
      } catch { throw PeerFailure("\(error)\nlinphone:\n\(linphone.log)") }
    }
  }

  static let sipp: [PeerCase] = [
    PeerCase(
      peer: "SIPp", transport: "UDP", "desk phone: registers", expected: "401, 423 with Min-Expires, 401, 200"
    ) {
      var settings = GatewaySettings()
      settings.deskPhones = ["lobby: {user: bob, password: \(password)}"]
      return try await GatewayRunning.run(settings) { gateway in
        var options = SIPpPeer.Options()
        options.user = "lobby"
        options.account = ("lobby", password)
        let phone = try await SIPpPeer(
          SIPpCase.scenario("phone-registers"), as: .client(target: gateway.ports.sip), options)
        do { try await phone.succeeds() } catch { throw PeerFailure("\(error)\n\(phone.transcript)") }
        let report = await gateway.operations.deskPhones(environment: "sandbox").first
        try require(
          report?.registrations.count == 1 && report?.registrations.first?.userAgent == "SIPp",
          "\(String(describing: report))")
        return "registered"
      }
    },
    PeerCase(
      peer: "SIPp", transport: "UDP", "desk phone: a wrong password", expected: "401 again, nothing is bound"
    ) {
      var settings = GatewaySettings()
      settings.deskPhones = ["lobby: {user: bob, password: \(password)}"]
      return try await GatewayRunning.run(settings) { gateway in
        var options = SIPpPeer.Options()
        options.user = "lobby"
        options.account = ("lobby", "another-long-password")
        let phone = try await SIPpPeer(
          SIPpCase.scenario("phone-registers"), as: .client(target: gateway.ports.sip), options)
        do {
          try await phone.succeeds()
          throw PeerFailure("a wrong password registers")
        } catch let failure as PeerFailure where !failure.description.contains("wrong password registers") {
          let report = await gateway.operations.deskPhones(environment: "sandbox").first
          try require(report?.registrations.isEmpty == true, "\(String(describing: report))")
        }
        return "401 twice"
      }
    },
  ]
}
