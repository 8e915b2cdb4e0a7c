import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore

/// What an app of others sends when we report that its packets are lost: copies of the packets before, within the sound
/// (in-band FEC, RFC 6716 section 2.1.7) or beside it (RFC 2198), which make good what is lost. And what it is sent.
enum CopiesCases {
  /// Of the packets that are lost, at least; the first are lost before any report.
  private static let leastRecovered = 20
  private static let speechSeconds = 30.0
  /// Bytes of payload, of packets that hold two of some 75.
  private static let leastDouble = 110.0

  /// The relay between app and bridge, built beside the tests.
  private static let lab = GatewayBooks.landline.deletingLastPathComponent().appendingPathComponent("landline-lab")

  static let cases = [
    PeerCase(
      peer: "Chromium", transport: "DTLS", "10 % of its packets are lost on the way",
      expected: "it learns of it and sends copies, which make good what is lost",
      run: {
        try await GatewayUnderTest.run { gateway in
          try await run(gateway, lost: 10) { call, _ in
            let received = try await received(call)
            return "\(received.recovered) of \(received.lost) lost packets were made good from copies"
          }
        }
      }),
    PeerCase(
      peer: "Chromium", transport: "DTLS", "it prefers redundant audio, and 8 % are lost either way",
      expected: "its copies are heard, and it is sent copies that it uses",
      run: {
        try await GatewayUnderTest.run { gateway in
          try await run(gateway, lost: 8, ["--codec", "red,opus"]) { call, peer in try await redundant(call, peer) }
        }
      }),
  ]

  private static func received(_ call: BridgedCall) async throws -> MediaStatistics.Direction {
    try await Deadline(seconds: speechSeconds).first("copies in place of what is lost") {
      call.statistics(.near).last.flatMap { $0.received.recovered >= leastRecovered ? $0.received : nil }
    }
  }

  /// Copies both ways. Nearly every single packet that is lost is made good from the one behind it.
  private static func redundant(_ call: BridgedCall, _ peer: PythonPeer) async throws -> String {
    let received = try await received(call)
    let used = try await Deadline(seconds: speechSeconds).first("copies either way", everyMilliseconds: 100) {
      let figures = try await peer.ask("stats", for: "stats")
      // Chromium calls its codec Opus all the same; what it sends is twice as large.
      let size = (figures.number("bytesSent") ?? 0) / max(1, figures.number("packetsSent") ?? 0)
      let used = figures.number("fecPacketsReceived") ?? 0
      return size >= leastDouble && used >= Double(leastRecovered) ? used : nil
    }
    let share = Double(received.recovered) / Double(max(1, received.lost))
    guard share >= 0.7 else {
      throw PeerFailure("\(received.recovered) of \(received.lost) lost packets were made good")
    }
    return "\(received.recovered) of \(received.lost) lost packets were made good, \(Int(used)) copies reached it"
  }

  /// An app calls a phone that echoes, over a network that loses some percent of the datagrams either way.
  private static func run(
    _ gateway: GatewayUnderTest, lost: Int, _ options: [String] = [],
    _ judge: (BridgedCall, PythonPeer) async throws -> String
  ) async throws -> String {
    let folder = try TemporaryFolder("copies")
    let microphone = folder.url.appendingPathComponent("long.wav")
    let text = Array(repeating: EchoCases.text, count: 10).joined(separator: " ")
    try SoundFile(try await Speech(text, in: folder).file).padded(before: 1, after: 2).write(to: microphone)
    let relay = try PeerProcess(
      path: lab.path,
      [
        "simulate", "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(gateway.appPort)", "--loss", "\(lost)",
        "--seed", "1", "--duration", "120",
      ], environment: nil, startedIn: folder.url, in: folder)
    defer { relay.end() }
    try await relay.says("listening: ")
    guard let port = relay.diagnostics.firstMatch(of: /listening: 127\.0\.0\.1:([0-9]+)/)?.1 else {
      throw PeerFailure("the relay has no port: \(relay.diagnostics)")
    }
    async let telephone = EchoCases.echo(.pcmu)
    let peer = try await PythonPeer(.chromium, ["--microphone", microphone.path] + options)
    let call = try await gateway.open(BridgedCall.Terms([.pcmu]))
    let offer = try await peer.ask("offer", for: "offer").text("sdp") ?? ""
    let answer = try call.answer(offer).replacing(" 127.0.0.1 \(gateway.appPort) ", with: " 127.0.0.1 \(port) ")
    try peer.run("remote", ["type": "answer", "sdp": answer])
    try await peer.event("connected")
    _ = try await call.secured(.near)
    let sipp = try await telephone
    try await call.dial(sipp.port)
    try await call.answered()
    _ = try await peer.ask("play", for: "playing")
    let happened = try await judge(call, peer)
    try await call.hangUp()
    try await sipp.succeeds()
    try? peer.run("close")
    return happened
  }
}
