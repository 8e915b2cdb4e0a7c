import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// A carrier calls numbers that lead to users, whose apps were written from the protocol's document alone.
enum ArrivalCases {
  private static let number = "+46850000536"
  private static let secondNumber = "+46850000537"

  private struct Scene: Sendable {
    let gateway: GatewayRunning
    let bob: [AppPeer]
    let carrier: SIPpPeer
  }

  /// - Parameters:
  ///   - scenario: what the carrier does.
  ///   - row: the number's row, as flow mapping of YAML.
  private static func make(
    _ name: String, _ scenario: String, expected: String, row: String = "{user: bob}", devices: Int = 2,
    keys: [String: String] = [:], lines: [String] = [], _ body: @escaping @Sendable (Scene) async throws -> String
  ) -> PeerCase {
    PeerCase(peer: "SIPp, aiortc", transport: "UDP", "a carrier calls: \(name)", expected: expected) {
      var settings = GatewaySettings([.init("first", uri: "sip:127.0.0.1:5060", lines)])
      settings.sandboxHasTrunks = true
      settings.numbers = ["\"\(number)\": \(row)", "\"\(secondNumber)\": {user: carol}"]
      return try await GatewayRunning.run(settings) { gateway in
        var bob: [AppPeer] = []
        for place in 0..<devices {
          bob.append(
            try await AppPeer(
              gateway, as: .trial, user: "bob", sequence: place + 1,
              ["features": ["incoming.1"], "device": "device \(place)"]))
        }
        var options = SIPpPeer.Options()
        options.user = number
        options.keys = keys
        options.echoesMedia = true
        let carrier = try await SIPpPeer(
          SIPpCase.scenario(scenario), as: .client(target: gateway.ports.sip), options)
        let scene = Scene(gateway: gateway, bob: bob, carrier: carrier)
        do {
          let happened = try await body(scene)
          try await carrier.succeeds()
          return happened
        } catch {
          let told = bob.map { $0.peer.events.map { String($0.description.prefix(300)) }.joined(separator: "\n") }
          throw PeerFailure("\(error)\n\(carrier.transcript)\n\(told.joined(separator: "\n\n"))")
        }
      }
    }
  }

  /// The record that tells why nobody was reached.
  private static func refused(_ scene: Scene, _ code: CallFailureCode) async throws -> String {
    try await scene.carrier.succeeds()
    let records = try await scene.gateway.stores("sandbox").records.records(.init()).records
    try require(
      records.count == 1 && records.first?.summary.failure?.code == code, "one record, \(code.rawValue): \(records)")
    return code.rawValue
  }

  static let cases: [PeerCase] = [
    make("two devices ring, one answers and hangs up", "call-arrives", expected: "heard both ways, one record, free") {
      scene in
      for device in scene.bob {
        let incoming = try await device.told("incoming")
        try require(
          incoming.text("from.kind") == "phone" && incoming.text("from.value") == "+46701111111"
            && incoming.text("from.name") == "Bo" && incoming.text("from.verified") == "none"
            && incoming.text("number") == number && incoming.text("headers.X-Order") == "4711",
          "who calls whom: \(incoming)")
        try device.peer.run("alert", ["early": true])
        try await device.told("answer")
      }
      let winner = scene.bob[0]
      try await winner.peer.event("connected")
      try winner.peer.run("accept", ["headers": ["x-room": "7", "colour": "red"]])
      try await winner.told("established")
      let other = try await scene.bob[1].told("ended")
      try require(other.text("cause") == "otherDeviceAnswered", "answered elsewhere: \(other)")
      let echo = try await GatewayCase.echoHeard(winner)
      try winner.hangUp()
      let end = try await winner.ended()
      try require(end.text("cause") == "hungUp", "hung up: \(end)")
      try await scene.carrier.succeeds()
      guard let record = try await scene.gateway.stores("sandbox").records.records(.init()).records.first else {
        throw PeerFailure("there is no record")
      }
      try require(
        record.call.destination == number && record.callerNumber == "+46701111111"
          && record.call.trunk == "first" && record.summary.costMicro == 0, "\(record)")
      return echo
    },
    make(
      "and puts bob through to another number of ours (REFER)", "call-arrives-and-refers",
      expected: "202, NOTIFY to 200, BYE; bob and carol talk", devices: 1, lines: ["transfers: true"]
    ) { scene in
      let carol = try await AppPeer(
        scene.gateway, as: .trial, user: "carol", sequence: 1, ["features": ["incoming.1"], "device": "desk"])
      let bob = scene.bob[0]
      for app in [bob, carol] { try await app.answers() }
      try await bob.told("transfer")
      try await scene.carrier.succeeds()
      let heard = try await UserCases.heard(by: carol, from: bob, "The carrier has put us through.")
      try carol.hangUp()
      try require(try await bob.ended().text("cause") == "hungUp", "bob hears the end")
      return heard
    },
    make(
      "and may not transfer", "call-arrives-and-refers-in-vain", expected: "Allow without REFER, 603", devices: 1
    ) { scene in
      try await scene.bob[0].answers()
      try await scene.carrier.succeeds()
      try require(try await scene.bob[0].ended().text("cause") == "hungUp", "the call went on")
      return "603"
    },
    make("it gives up", "call-cancels", expected: "487, and each device has missed a call") { scene in
      for device in scene.bob {
        try await device.told("incoming")
        try device.peer.run("alert", ["early": false])
      }
      for device in scene.bob {
        let end = try await device.told("ended")
        try require(end.text("cause") == "canceled" && end.flag("missed") == true, "given up: \(end)")
      }
      return "canceled, missed"
    },
    make("no device is there", "call-to-gateway", expected: "480", devices: 0, keys: ["refusal": "480"]) {
      try await refused($0, .userUnreachable)
    },
    make(
      "somebody declines", "call-to-gateway", expected: "603", devices: 1,
      keys: ["refusal": "603"]
    ) { scene in
      try await scene.bob[0].told("incoming")
      try scene.bob[0].peer.run("decline")
      return try await refused(scene, .userDeclined)
    },
    make(
      "the number turns the caller away", "call-to-gateway", expected: "603",
      row: "{user: bob, callers: {blocked: [\"+46\"]}}", keys: ["refusal": "603"]
    ) { try await refused($0, .callerRefused) },
    make(
      "the number is not active", "call-to-gateway", expected: "404", row: "{user: bob, active: false}",
      keys: ["refusal": "404"]
    ) { try await refused($0, .numberUnknown) },
  ]

  // MARK: Refused

  /// A call of a carrier that comes to nothing.
  private struct Refused: Sendable {
    let name: String
    let status: Int
    /// Of its record.
    let code: CallFailureCode
    var called = ArrivalCases.number
    var row = "{user: bob}"
    /// Lines of the trunk.
    var lines: [String] = []
    /// What the INVITE says otherwise.
    var changes: [(String, String)] = []
    /// Whether bob talks with somebody, and whether his device alerts.
    var isBusy = false
    var alerts = false
  }

  static let refusals: [PeerCase] = [
    Refused(name: "a number that nobody has", status: 404, code: .numberUnknown, called: "+46850000599"),
    Refused(
      name: "a number of ours that leads to nobody", status: 480, code: .numberUnserved,
      row: "{account: \(GatewayPayer.trial.name)}"),
    Refused(
      name: "an anonymous caller where none is taken", status: 433, code: .callerRefused,
      row: "{user: bob, callers: {anonymous: refuse}}",
      changes: [
        ("\"Peer\" <sip:+46701111111@[local_ip]:[local_port]>", "\"Anonymous\" <sip:anonymous@anonymous.invalid>")
      ]),
    Refused(
      name: "five diversions", status: 482, code: .forwardLoop, lines: ["inbound: {trusts-identity: true}"],
      changes: [
        (
          "X-Order: 4711",
          (1...5).map { "Diversion: <sip:+4670111222\($0)@example.com>;reason=unconditional" }.joined(
            separator: "\n    ")
        )
      ]),
    Refused(
      name: "no codec in common", status: 488, code: .media,
      changes: [
        ("RTP/AVP 0 101", "RTP/AVP 18"), ("a=rtpmap:0 PCMU/8000", "a=rtpmap:18 G729/8000"),
        ("    a=rtpmap:101 telephone-event/8000\n    a=fmtp:101 0-15\n", ""),
      ]),
    Refused(name: "the user talks already", status: 486, code: .userBusy, isBusy: true),
    Refused(
      name: "nobody answers, and the carrier is to go elsewhere", status: 503, code: .userNoAnswer,
      row: "{user: bob, ring: 5s, no-answer: 503}", alerts: true),
    Refused(
      name: "a forward, and no hop is left", status: 483, code: .forwardLoop, row: "{phone: \"+46701234567\"}",
      changes: [("Max-Forwards: 70\n    Contact", "Max-Forwards: 0\n    Contact")]),
  ].map { refused in
    PeerCase(
      peer: "SIPp", transport: "UDP", "a carrier calls: \(refused.name)", expected: "\(refused.status)"
    ) { try await perform(refused) }
  }

  private static func perform(_ refused: Refused) async throws -> String {
    var settings = GatewaySettings([.init("first", uri: "sip:127.0.0.1:5060", refused.lines)])
    settings.sandboxHasTrunks = true
    settings.numbers = ["\"\(number)\": \(refused.row)"]
    return try await GatewayRunning.run(settings) { gateway in
      let bob = try await AppPeer(gateway, as: .trial, user: "bob", ["features": ["incoming.1"]])
      let alice = try await refused.isBusy ? talking(with: bob, gateway) : nil
      var text = String(decoding: try Data(contentsOf: SIPpCase.scenario("call-to-gateway")), as: UTF8.self)
        .replacing(
          "<recv response=\"100\" optional=\"true\"/>",
          with: "<recv response=\"100\" optional=\"true\"/>\n  <recv response=\"180\" optional=\"true\"/>")
      for (before, after) in refused.changes {
        try require(text.contains(before), "the scenario says \(before)")
        text = text.replacing(before, with: after)
      }
      var options = SIPpPeer.Options()
      options.user = refused.called
      options.keys = ["refusal": "\(refused.status)"]
      let carrier = try await SIPpPeer(
        named: "call-to-gateway", text, as: .client(target: gateway.ports.sip), options)
      do {
        if refused.alerts {
          try await bob.told("incoming")
          try bob.peer.run("alert", ["early": false])
        }
        try await carrier.succeeds()
        let environments = try ["production", "sandbox"].map { try gateway.stores($0).records }
        let found = try await Deadline(seconds: 5).first("record", everyMilliseconds: 20) { () -> CallRecord? in
          for records in environments {
            if let record = try await records.records(.init()).records.first { return record }
          }
          return nil
        }
        try require(found.summary.failure?.code == refused.code, "\(refused.code.rawValue): \(found)")
        if let alice {
          try alice.hangUp()
          _ = try await alice.ended()
        }
        return refused.code.rawValue
      } catch { throw PeerFailure("\(error)\n\(carrier.transcript)") }
    }
  }

  /// Another user whose call bob has answered.
  private static func talking(with bob: AppPeer, _ gateway: GatewayRunning) async throws -> AppPeer {
    let alice = try await AppPeer(gateway, as: .trial)
    _ = try await alice.placed("bob", ["kind": "user"])
    try await bob.answers()
    try await alice.told("established")
    return alice
  }
}
