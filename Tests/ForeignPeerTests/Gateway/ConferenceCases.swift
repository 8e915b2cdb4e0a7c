import CallEngine
import CallModel
import Foundation
import MediaCore
import NodeCore
import PeerKit
import SDPCore
import SecureTransport

/// Conferences of apps that were written from the protocol's document alone.
enum ConferenceCases {
  static let cases: [PeerCase] = [
    GatewayCase.make(
      "aiortc", "UDP", "three apps in a conference", expected: "each hears the others, two go on when one leaves, free"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        var apps: [AppPeer] = []
        for user in ["alice", "bob", "carol"] {
          let app = try await AppPeer(gateway, as: .trial, user: user)
          _ = try await app.established("weekly", ["kind": "conference"])
          apps.append(app)
        }
        return try await GatewayCase.reported(apps[0]) { try await talk(apps[0], apps[1], apps[2]) }
      }
    },
    GatewayCase.make(
      "aiortc", "UDP", "words said to all of a conference", expected: "each hears them, beside what the others say"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        var apps: [AppPeer] = []
        for user in ["alice", "bob"] {
          let app = try await AppPeer(gateway, as: .trial, user: user)
          _ = try await app.established("weekly", ["kind": "conference"])
          apps.append(app)
        }
        let room = RoomKey(
          environment: "sandbox", application: GatewayPayer.trial.key, conference: try ConferenceID("weekly"))
        return try await GatewayCase.reported(apps[0]) {
          let heard = try await said(to: apps, in: .conference(room), gateway)
          for app in apps {
            try app.hangUp()
            _ = try await app.ended()
          }
          return heard
        }
      }
    },
    phone("a caller whom a number brings in", isCalled: false), phone("a telephone that REST calls in", isCalled: true),
    GatewayCase.make(
      "aiortc", "UDP", "five apps in a conference, one loses 3 % of what it sends",
      expected: "the words of the one are understood by the others, and theirs by it"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        var apps: [AppPeer] = []
        for user in ["alice", "bob", "carol", "dave", "eve"] {
          let app = try await AppPeer(gateway, as: .trial, user: user)
          _ = try await app.established("weekly", ["kind": "conference"])
          apps.append(app)
        }
        // Not of what it hears: for a lost packet aiortc waits until 16 others have come, which is seconds in a pause.
        try apps[4].peer.run("impair", ["loss": 0.03])
        return try await GatewayCase.reported(apps[0]) {
          let said = [
            try await understood(by: apps[0], from: apps[4]), try await understood(by: apps[4], from: apps[1]),
            try await understood(by: apps[2], from: apps[3]),
          ]
          for app in apps {
            try app.hangUp()
            _ = try await app.ended()
          }
          return said.joined(separator: "; ")
        }
      }
    },
    PeerCase(
      peer: "aiortc, baresip, SIPp", transport: "UDP", "in a conference: eight of three kinds, Opus, G.711 and G.722",
      expected: "each hears the tone of every other one, and its own below -40 dB and 20 dB below theirs", run: eight),
  ]

  /// The words of one app as another hears them.
  private static func understood(by listener: AppPeer, from speaker: AppPeer) async throws -> String {
    let words = "The meeting begins at noon and we have many questions to answer before lunch."
    let folder = try TemporaryFolder("words")
    let (_, listened) = try await listener.listen(to: words, from: speaker, in: folder)
    return try await SoundControl.words(
      of: listened.value, expected: words, and: [], listened.lateness, listened.seconds, as: .aiortc)
  }

  // MARK: Eight who hum

  /// Hz, one for each: far enough from each other and from what a codec adds to its neighbours.
  private static let tones: [Double] = [400, 550, 700, 850, 1_000, 1_150, 1_300, 1_450]
  private static let amplitude = 2_600.0
  private static let seconds = 40
  /// Judged at the end of what each heard.
  private static let judgedSeconds = 4

  private static func eight() async throws -> String {
    let folder = try TemporaryFolder("eight")
    var settings = GatewaySettings([.init("first", port: 5060)])
    settings.sandboxHasTrunks = true
    settings.numbers = ["\"\(number)\": {conference: weekly}"]
    try await SoundJudge.shared.prepare()
    return try await GatewayRunning.run(settings) { gateway in
      let files = try tones.map { try file(of: $0, in: folder) }
      var apps: [AppPeer] = []
      for user in ["alice", "bob", "carol", "dave"] {
        let app = try await AppPeer(gateway, as: .trial, user: user)
        _ = try await app.established("weekly", ["kind": "conference"])
        apps.append(app)
      }
      var telephones: [BaresipPeer] = []
      for (place, codec) in [(4, "PCMU/8000/1"), (5, "G722/16000/1")] {
        let sound = BaresipPeer.Sound(files[place], samplingRate: 8_000, codecs: [codec])
        let telephone = try await BaresipPeer(transport: .udp, answerMode: .auto, sound: sound)
        try telephone.run("dial", "sip:\(number)@127.0.0.1:\(gateway.ports.sip)")
        try await telephone.event("CALL_ESTABLISHED")
        telephones.append(telephone)
      }
      var hummers: [SIPpPeer] = []
      for place in [6, 7] {
        var options = SIPpPeer.Options()
        options.user = number
        options.patienceMilliseconds = 60_000
        options.keys = ["file": try raw(files[place], in: folder).path]
        hummers.append(
          try await SIPpPeer(
            SIPpCase.scenario("call-conference-and-hum"), as: .client(target: gateway.ports.sip), options))
      }
      _ = try await Deadline(seconds: 20).first("eight participants", everyMilliseconds: 50) {
        await gateway.operations.conferences(environment: "sandbox").first?.participants.count == tones.count
          ? true : nil
      }
      for (app, file) in zip(apps, files) {
        _ = try await app.peer.ask("play", ["file": file.path], for: "playing")
        _ = try await app.peer.ask("record", for: "recording")
      }
      var heard: [URL] = []
      for app in apps {
        heard.append(
          try await EchoCases.recording(of: app.peer, seconds: Double(judgedSeconds) + 2, in: folder))
      }
      let room = RoomKey(
        environment: "sandbox", application: GatewayPayer.trial.key, conference: try ConferenceID("weekly"))
      _ = await gateway.operations.conference(room, .end, by: "test")
      for telephone in telephones {
        try await telephone.event("CALL_CLOSED")
        heard.append(
          try await Deadline(seconds: 10).first("recording of baresip", everyMilliseconds: 50) { telephone.recording })
      }
      for hummer in hummers { try await hummer.succeeds() }
      var worst = -Double.infinity
      for (listener, recording) in heard.enumerated() {
        let levels = try await SoundJudge.shared.levels(in: recording, of: tones, seconds: judgedSeconds)
        try require(levels.count == tones.count, "every tone is looked for: \(levels)")
        let others = levels.enumerated().filter { $0.offset != listener }.map(\.element)
        let quietest = others.min() ?? -.infinity
        let sent = 20 * log10(amplitude / 32_768)
        try require(quietest > sent - 6, "listener \(listener) hears all others: \(levels)")
        worst = max(worst, levels[listener] - quietest)
        try require(
          levels[listener] < min(-40, quietest - 20), "listener \(listener) does not hear itself: \(levels)")
      }
      return "own tone at most \(Int(worst.rounded())) dB"
    }
  }

  private static func file(of tone: Double, in folder: TemporaryFolder) throws -> URL {
    let rate = 8_000
    let samples = (0..<rate * seconds).map { Int16(amplitude * sin(2 * .pi * tone * Double($0) / Double(rate))) }
    let file = folder.url.appendingPathComponent("\(Int(tone)).wav")
    try SoundFile(samplingRate: rate, samples: samples).write(to: file)
    return file
  }

  /// As SIPp sends it: G.711 µ-law without a header.
  private static func raw(_ wave: URL, in folder: TemporaryFolder) throws -> URL {
    let file = wave.deletingPathExtension().appendingPathExtension("ulaw")
    let encoder = try AudioEncoder(.pcmu, samplingRate: 8_000)
    var bytes: [UInt8] = []
    for block in try SoundFile(wave).blocks(milliseconds: 20) {
      let packet = PacketBuffer()
      try require(encoder.encode(SampleBuffer(block), from: 0, count: block.count, into: packet), "a block is encoded")
      bytes += (0..<packet.count).map { packet[$0] }
    }
    try Data(bytes).write(to: file)
    return file
  }

  private static let number = "+46850000536"
  private static let words = "The weather is fine today."

  /// flite speaks, a recogniser listens.
  /// Each app hears what an operator has said.
  static func said(to apps: [AppPeer], in place: SayingPlace, _ gateway: GatewayRunning) async throws -> String {
    let folder = try TemporaryFolder("said")
    try await SoundJudge.shared.prepare()
    var heard: [String] = []
    for app in apps {
      let listened = try await Listening.during {
        _ = try await app.peer.ask("record", for: "recording")
        let said = await gateway.operations.say(.text(words), in: place, by: "test")
        guard case .said(let milliseconds) = said else { throw PeerFailure("not said: \(said)") }
        return try await EchoCases.recording(of: app.peer, seconds: Double(milliseconds) / 1000 + 1, in: folder)
      }
      heard.append(
        try await SoundControl.words(
          of: listened.value, expected: words, listened.lateness, listened.seconds, as: .landlineApp))
    }
    return heard.joined(separator: ", ")
  }

  /// An app is in the conference first; the telephone sends back what it hears, so the app hears itself by it alone.
  private static func phone(_ name: String, isCalled: Bool) -> PeerCase {
    PeerCase(
      peer: "SIPp, aiortc", transport: "UDP", "in a conference: \(name)",
      expected: "hears and is heard, is told of, muted, and hung up on"
    ) {
      let called = isCalled ? try await EchoCases.echo(.pcma) : nil
      var settings = GatewaySettings([.init("first", port: called?.port ?? 5060)])
      settings.sandboxHasTrunks = true
      settings.numbers = ["\"\(number)\": {conference: weekly}"]
      return try await GatewayRunning.run(settings) { gateway in
        let alice = try await AppPeer(gateway, as: .trial, ["features": ["rooms.1"]])
        _ = try await alice.established("weekly", ["kind": "conference"])
        try require(try await alice.told("members").number("own") == 1, "alice is the first")
        let phone: SIPpPeer
        if let called {
          try await add(gateway)
          phone = called
        } else {
          var options = SIPpPeer.Options()
          options.user = number
          options.echoesMedia = true
          phone = try await SIPpPeer(
            SIPpCase.scenario("call-conference"), as: .client(target: gateway.ports.sip), options)
        }
        do {
          return try await GatewayCase.reported(alice) { try await talk(alice, phone, gateway) }
        } catch {
          throw PeerFailure("\(error)\n\(phone.transcript)")
        }
      }
    }
  }

  private static func add(_ gateway: GatewayRunning) async throws {
    var order = OriginateOrder(
      environment: "sandbox", account: try AccountName(validating: GatewayPayer.trial.name),
      first: (.conference, "weekly"), second: (.phone, GatewayRate.number))
    order.application = GatewayPayer.trial.key
    let placed = await gateway.operations.originate(order)
    guard case .success = placed else { throw PeerFailure("not placed: \(placed)") }
  }

  private static func talk(_ alice: AppPeer, _ phone: SIPpPeer, _ gateway: GatewayRunning) async throws -> String {
    let room = RoomKey(
      environment: "sandbox", application: GatewayPayer.trial.key, conference: try ConferenceID("weekly"))
    let news = try await alice.told("members")
    try require(
      news.text("members.0.from.kind") != "user" && news.number("members.0.participant") == 2, "the phone: \(news)")
    let heard = try await UserCases.heard(by: alice, from: alice, "Whatever I say comes back to me.")
    try await alice.told("speakers")
    _ = await gateway.operations.conference(room, .silence(participant: 2, true), by: "test")
    _ = try await Deadline(seconds: 10).first("news that the phone is muted", everyMilliseconds: 50) {
      alice.peer.events.last { $0.name == "got-members" }?.flag("members.0.muted") == true ? true : nil
    }
    _ = await gateway.operations.conference(room, .end, by: "test")
    try require(try await alice.ended().text("cause") == "hungUp", "alice hears the end")
    try await phone.succeeds()
    return heard
  }

  private static func talk(_ alice: AppPeer, _ bob: AppPeer, _ carol: AppPeer) async throws -> String {
    var heard: [String] = []
    for (listener, speaker, words) in [
      (bob, alice, "Good morning, is everybody there?"), (carol, alice, "Let us begin then."),
      (alice, carol, "I have one more question."),
    ] {
      heard.append(try await UserCases.heard(by: listener, from: speaker, words))
    }
    try alice.hangUp()
    let end = try await alice.ended()
    try require(end.text("cause") == "hungUp" && end.number("cost_micro") == 0, "hung up and free: \(end)")
    heard.append(try await UserCases.heard(by: bob, from: carol, "Now there are two of us."))
    for app in [bob, carol] {
      try app.hangUp()
      _ = try await app.ended()
    }
    return heard.joined(separator: ", ")
  }
}
