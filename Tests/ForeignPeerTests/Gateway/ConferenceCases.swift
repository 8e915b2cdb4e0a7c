import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit
import SDPCore

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
        return try await GatewayCase.reported(apps[0]) { try await said(to: apps, gateway) }
      }
    },
    phone("a caller whom a number brings in", isCalled: false), phone("a telephone that REST calls in", isCalled: true),
  ]

  private static let number = "+46850000536"
  private static let words = "The weather is fine today."

  /// flite speaks, a recogniser listens.
  private static func said(to apps: [AppPeer], _ gateway: GatewayRunning) async throws -> String {
    let room = RoomKey(
      environment: "sandbox", application: GatewayPayer.trial.key, conference: try ConferenceID("weekly"))
    let folder = try TemporaryFolder("said")
    try await SoundJudge.shared.prepare()
    var heard: [String] = []
    for app in apps {
      let listened = try await Listening.during {
        _ = try await app.peer.ask("record", for: "recording")
        let said = await gateway.operations.say(.text(words), in: .conference(room), by: "test")
        guard case .said(let milliseconds) = said else { throw PeerFailure("not said: \(said)") }
        return try await EchoCases.recording(of: app.peer, seconds: Double(milliseconds) / 1000 + 1, in: folder)
      }
      heard.append(
        try await SoundControl.words(
          of: listened.value, expected: words, listened.lateness, listened.seconds, as: .landlineApp))
    }
    for app in apps {
      try app.hangUp()
      _ = try await app.ended()
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
