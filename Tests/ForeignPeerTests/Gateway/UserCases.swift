import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// Calls from user to user between apps that were written from the protocol's document alone.
enum UserCases {
  /// Others hear that a call was answered or given up within this time.
  private static let milliseconds = 50.0
  /// From the answer to sound that can flow, where the device offered while it rang; and where it offers with its answer.
  private static let earlySoundMilliseconds = 100.0
  private static let lateSoundMilliseconds = 250.0

  private struct Scene: Sendable {
    let gateway: GatewayRunning
    let alice: AppPeer
    /// Three devices of one user.
    let bob: [AppPeer]
  }

  private static func make(
    _ name: String, expected: String, devices: Int = 3, _ body: @escaping @Sendable (Scene) async throws -> String
  ) -> PeerCase {
    GatewayCase.make("aiortc", "UDP", "user: \(name)", expected: expected) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        let features: [String: any Sendable] = ["features": ["incoming.1"]]
        let alice = try await AppPeer(gateway, as: .trial, features.merging(["name": "Alice"]) { $1 })
        var bob: [AppPeer] = []
        for number in 0..<devices {
          bob.append(
            try await AppPeer(
              gateway, as: .trial, user: "bob", sequence: number + 1,
              features.merging(["device": "device \(number)"]) { $1 }))
        }
        let scene = Scene(gateway: gateway, alice: alice, bob: bob)
        return try await GatewayCase.reported(alice) { try await body(scene) }
      }
    }
  }

  /// Alice calls, and every device of bob rings.
  private static func ring(_ scene: Scene, early: Bool) async throws -> String {
    let headers = ["order": "42"]
    let call = try await scene.alice.placed("bob", ["kind": "user", "headers": headers])
    for device in scene.bob {
      let incoming = try await device.told("incoming")
      try require(
        incoming.text("call") == call && incoming.text("from.value") == "alice" && incoming.text("from.name") == "Alice"
          && incoming.text("to") == "bob" && incoming.text("headers.order") == "42", "who calls whom: \(incoming)")
      try device.peer.run("alert", ["early": early])
      try await device.told(early ? "answer" : "done")
    }
    try await scene.alice.told("ringing")
    return call
  }

  /// The second device takes the call, and the others hear so.
  /// - Returns: the milliseconds to sound and to the others' end, which a test that was late does not judge.
  private static func answer(_ scene: Scene, early: Bool) async throws -> String {
    let winner = scene.bob[1]
    if early { try await winner.peer.event("connected") }
    let (sound, others) = try await GatewayCase.timed {
      let at = Date().timeIntervalSince1970
      try winner.peer.run("accept", ["headers": ["room": "7"]])
      let accepted = try await scene.alice.told("accepted")
      try require(accepted.text("headers.room") == "7", "headers of the answer: \(accepted)")
      var others = 0.0
      for device in [scene.bob[0], scene.bob[2]] {
        let end = try await device.told("ended")
        try require(
          end.text("cause") == "otherDeviceAnswered" && end.text("by") == "device 1", "answered elsewhere: \(end)")
        others = max(others, ((end.number("at") ?? 0) - (accepted.number("at") ?? 0)) * 1000)
      }
      let established = try await winner.told("established")
      let sound = ((established.number("at") ?? 0) - at) * 1000
      let limit = early ? earlySoundMilliseconds : lateSoundMilliseconds
      return (value: (sound, others), figure: .init("answer to sound, ms", sound, 0...limit))
    }
    try await scene.alice.told("established")
    return "sound after \(rounded(sound)) ms, the others after \(rounded(others)) ms"
  }

  /// What one of two says is heard by the other.
  static func heard(by listener: AppPeer, from speaker: AppPeer, _ words: String) async throws -> String {
    let folder = try TemporaryFolder("users")
    let (speech, listened) = try await listener.listen(to: words, from: speaker, in: folder)
    let quality = try await SoundJudge.shared.quality(of: listened.value, reference: speech.file)
    let alike = Heard.Figure("correlation", quality.number("correlation"), atLeast: 0.7)
    try ListeningCase.judge(
      Heard(
        [alike], packets: try await SoundControl.packets(of: listener.peer), lateness: listened.lateness,
        seconds: listened.seconds), control: SoundControl.echo(.aiortc))
    return "\(alike)"
  }

  static let cases: [PeerCase] = [
    make("three devices ring with media, the second answers", expected: "sound both ways, the others end") { scene in
      let call = try await ring(scene, early: true)
      let times = try await answer(scene, early: true)
      let toBob = try await heard(by: scene.bob[1], from: scene.alice, "Please hold the line.")
      let toAlice = try await heard(by: scene.alice, from: scene.bob[1], "The other way round as well.")
      try scene.bob[1].hangUp()
      for app in [scene.alice, scene.bob[1]] {
        let end = try await app.ended()
        try require(end.text("cause") == "hungUp" && end.number("cost_micro") == 0, "hung up and free: \(end)")
      }
      try await scene.alice.uncharged(call)
      let record = try await scene.gateway.record(call, in: "sandbox")
      try require(record.call.kind == .user && record.call.farCodec == "opus", "\(record.call)")
      return "\(times); \(toBob), \(toAlice)"
    },
    make("three devices ring, the second offers with its answer", expected: "sound can flow, the others end") { scene in
      _ = try await ring(scene, early: false)
      let times = try await answer(scene, early: false)
      try scene.alice.hangUp()
      for app in [scene.alice, scene.bob[1]] { try await app.told("ended") }
      return times
    },
    make("the caller gives up", expected: "each device hears so, and has missed a call") { scene in
      _ = try await ring(scene, early: true)
      let latest = try await GatewayCase.timed {
        let at = Date().timeIntervalSince1970
        try scene.alice.hangUp()
        var latest = 0.0
        for device in scene.bob {
          let end = try await device.told("ended")
          try require(end.text("cause") == "canceled" && end.flag("missed") == true, "given up and missed: \(end)")
          latest = max(latest, ((end.number("at") ?? 0) - at) * 1000)
        }
        return (value: latest, figure: .init("the last device, ms", latest, 0...milliseconds))
      }
      let end = try await scene.alice.ended()
      try require(end.text("cause") == "canceled", "\(end)")
      return "canceled, the last device after \(rounded(latest)) ms"
    },
    make("one device declines for all", expected: "denied, and who did it") { scene in
      _ = try await ring(scene, early: false)
      try scene.bob[2].peer.run("decline")
      for device in scene.bob {
        let end = try await device.told("ended")
        try require(end.text("cause") == "denied" && end.text("by") == "device 2", "declined by: \(end)")
      }
      let end = try await scene.alice.ended()
      try FailureCases.failed(end, code: "gw.userDeclined", status: 603)
      return "denied"
    },
    make(
      "the caller puts bob through to carol after talking with her", expected: "both talk, books in order", devices: 1
    ) {
      scene in
      let carol = try await AppPeer(
        scene.gateway, as: .trial, user: "carol", sequence: 1, ["features": ["incoming.1"], "device": "desk"])
      let call = try await ring(scene, early: true)
      let bob = scene.bob[0]
      try bob.peer.run("accept", ["headers": ["room": "7"]])
      try await scene.alice.told("established")
      try scene.alice.peer.run("transfer", ["to": "carol", "kind": "user", "consult": true])
      try await bob.told("held")
      let incoming = try await carol.told("incoming")
      try require(incoming.text("from.value") == "bob", "who is put through: \(incoming)")
      try carol.peer.run("alert", ["early": true])
      try await carol.peer.event("connected")
      try carol.peer.run("accept")
      try await carol.told("established")
      let consulted = try await heard(by: carol, from: scene.alice, "May I put somebody through to you?")
      try scene.alice.peer.run("complete")
      let end = try await scene.alice.ended()
      try require(end.text("cause") == "transferred", "the caller is out of the call: \(end)")
      let toCarol = try await heard(by: carol, from: bob, "Now we two talk with each other.")
      let toBob = try await heard(by: bob, from: carol, "And we hear each other well.")
      try carol.hangUp()
      for app in [bob, carol] { try require(try await app.ended().text("cause") == "hungUp", "hung up") }
      let record = try await scene.gateway.record(call, in: "sandbox")
      try require(record.story.contains { $0.event == .transferred(target: "carol") }, "\(record.story)")
      return "\(consulted); \(toCarol), \(toBob)"
    },
    make("words are said beneath the talk", expected: "both hear them, and each other afterwards", devices: 1) {
      scene in
      let call = try await ring(scene, early: true)
      let bob = scene.bob[0]
      try bob.peer.run("accept", ["headers": ["room": "7"]])
      try await scene.alice.told("established")
      try await bob.told("established")
      let place = SayingPlace.beneath(CallID(unchecked: call), environment: "sandbox")
      let said = try await ConferenceCases.said(to: [scene.alice, bob], in: place, scene.gateway)
      let toBob = try await heard(by: bob, from: scene.alice, "Please hold the line.")
      let toAlice = try await heard(by: scene.alice, from: bob, "The other way round as well.")
      try bob.hangUp()
      for app in [scene.alice, bob] { try require(try await app.ended().text("cause") == "hungUp", "hung up") }
      return "\(said); \(toBob), \(toAlice)"
    },
    make(
      "a third is brought in to a call", expected: "three understand each other, and two when the third has left",
      devices: 1
    ) { scene in
      let carol = try await AppPeer(
        scene.gateway, as: .trial, user: "carol", sequence: 1, ["features": ["incoming.1"], "device": "desk"])
      let call = try await ring(scene, early: true)
      let bob = scene.bob[0]
      try bob.peer.run("accept", ["headers": ["room": "7"]])
      try await scene.alice.told("established")
      try await bob.told("established")
      var order = OriginateOrder(
        environment: "sandbox", account: try AccountName(validating: GatewayPayer.trial.name),
        guestOf: CallID(unchecked: call), (.user, "carol"))
      order.application = GatewayPayer.trial.key
      let guest = try await scene.gateway.operations.originate(order).get()
      try await carol.answers()
      try await carol.told("established")
      let said = [
        try await heard(by: carol, from: scene.alice, "Now there are three of us in this call."),
        try await heard(by: scene.alice, from: carol, "And everybody understands what I say."),
        try await heard(by: bob, from: carol, "The second one understands it just as well."),
      ]
      try require(await scene.gateway.operations.hangUp(guest, by: "test", cause: 16), "the third leaves")
      _ = try await carol.ended()
      let after = try await heard(by: bob, from: scene.alice, "Now we are alone with each other again.")
      try bob.hangUp()
      for app in [scene.alice, bob] { try require(try await app.ended().text("cause") == "hungUp", "hung up") }
      let record = try await scene.gateway.record(call, in: "sandbox")
      try require(record.story.contains { $0.text.contains("brought in, by call \(guest)") }, "\(record.story)")
      return said.joined(separator: "; ") + "; " + after
    },
    make("a device that listens no more, and a user that nobody knows", expected: "not reachable; unknown", devices: 1)
    {
      scene in
      try scene.bob[0].peer.run("listen", ["on": false])
      try await scene.bob[0].told("done")
      _ = try await scene.alice.placed("bob", ["kind": "user"])
      try FailureCases.failed(try await scene.alice.ended(), code: "gw.userUnreachable", status: 480)
      _ = try await scene.alice.placed("nobody", ["kind": "user"])
      try FailureCases.failed(try await scene.alice.ended(), code: "gw.userUnknown", status: 404)
      return "not reachable; unknown"
    },
    make("the users of the sandbox", expected: "busy, declined, an echo", devices: 0) { scene in
      for (user, code, status) in [("test-busy", "gw.userBusy", 486), ("test-decline", "gw.userDeclined", 603)] {
        _ = try await scene.alice.placed(user, ["kind": "user"])
        try FailureCases.failed(try await scene.alice.ended(), code: code, status: status)
      }
      _ = try await scene.alice.established("test-echo", ["kind": "user"])
      let echo = try await GatewayCase.echoHeard(scene.alice)
      try scene.alice.hangUp()
      try await scene.alice.told("ended")
      return echo
    },
  ]
}
