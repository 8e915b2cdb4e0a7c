import AppProtocol
import CallEngine
import CallModel
import Foundation
import PeerKit

/// The gateway itself is the other side.
enum PromptCases {
  static let cases: [PeerCase] = [
    GatewayCase.make(
      "aiortc", "DTLS", "the test number", expected: "the prompt is heard, the call ends by itself, free, on record"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        let app = try await AppPeer(gateway)
        return try await GatewayCase.reported(app) { try await prompt(app) }
      }
    },
    GatewayCase.make(
      "aiortc", "DTLS", "registers in every way",
      expected: "each way taken once, repeats and lies refused, a passed sequence signed again"
    ) {
      try await GatewayRunning.run(GatewaySettings()) { gateway in
        let app = try await AppPeer(gateway)
        return try await GatewayCase.reported(app) { try await registrations(app) }
      }
    },
  ]

  private static func prompt(_ app: AppPeer) async throws -> String {
    let folder = try TemporaryFolder("prompt")
    try await SoundJudge.shared.prepare()
    let listened = try await Listening.during {
      let call = try await app.placed("+46000000000")
      try await app.told("accepted")
      try await app.told("established")
      return (call: call, end: try await app.ended(within: 15))
    }
    let (call, end) = listened.value
    try require(end.text("cause") == "hungUp", "it ends by itself: \(end)")
    try require(end.text("failure.code") == nil, "without a failure: \(end)")
    try require(end.number("cost_micro") == 0 && end.text("cost") != nil, "free of charge: \(end)")
    let file = folder.url.appendingPathComponent("heard.wav")
    let saved = try await app.peer.ask("save", ["file": file.path], for: "saved")
    let said = try await SoundControl.words(
      of: file, expected: BrowserCase.prompt, listened.lateness, listened.seconds, as: .aiortc)
    try await app.uncharged(call)
    let record = try await gateway(app).record(call)
    try require(record.summary.cause == .hungUp && record.summary.costMicro == 0, "the record: \(record.summary)")
    return "\(said), \(rounded(saved.number("seconds"))) s, free, on record"
  }

  private static func gateway(_ app: AppPeer) -> GatewayRunning { app.gateway }

  /// Each on a connection of its own, as an app that starts again.
  private static func registrations(_ app: AppPeer) async throws -> String {
    func again(_ values: [String: any Sendable], isTaken: Bool) async throws {
      try app.peer.run("drop")
      _ = try await app.peer.ask("connect", ["port": Int(app.gateway.httpPort)], for: "connected-socket")
      try app.register(values)
      if isTaken {
        try await app.told("registered")
      } else {
        let error = try await app.told("error")
        try require(error.text("error.code") == "gw.registration", "refused as a registration: \(error)")
        let closed = try await app.peer.event("socket-closed")
        try require(closed.number("code") == 4401, "closed as unauthenticated: \(closed)")
      }
    }
    try await again(["kind": "credential"], isTaken: true)
    try await again(["kind": "token", "nonce": "n-1"], isTaken: true)
    try await again(["kind": "token", "nonce": "n-1"], isTaken: false)
    // A sequence that was passed: the least that would do is told, and the same connection takes it.
    try app.peer.run("drop")
    _ = try await app.peer.ask("connect", ["port": Int(app.gateway.httpPort)], for: "connected-socket")
    try app.register(["kind": "signature", "sequence": 1])
    let passed = try await app.told("error")
    try require(
      passed.text("error.code") == "gw.sequence" && passed.text("error.next_sequence") == "2",
      "told the least that would do: \(passed)")
    try app.register(["kind": "signature", "sequence": 2])
    try await app.told("registered")
    try await again(["kind": "signature", "sequence": 3, "secret": "AAAAAAAAAAAAAAAAAAAAAA=="], isTaken: false)
    try await again(["kind": "signature", "sequence": 3, "application": GatewayPayer.poor.key], isTaken: false)
    return
      "credential, token and signature taken; repeats, another secret and another key refused; a sequence that was passed signed again"
  }
}
