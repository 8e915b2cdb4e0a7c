import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore

/// What an app of others sends when we report that its packets are lost: copies of the packets before (in-band FEC, RFC 6716
/// section 2.1.7), which make good what is lost.
enum CopiesCases {
  /// Percent of all datagrams between app and bridge, either way.
  private static let lost = 10
  /// Of the packets that are lost, at least; the first are lost before any report.
  private static let leastRecovered = 20
  private static let speechSeconds = 30.0

  /// The relay between app and bridge, built beside the tests.
  private static let lab = GatewayBooks.landline.deletingLastPathComponent().appendingPathComponent("landline-lab")

  static let cases = [
    PeerCase(
      peer: "Chromium", transport: "DTLS", "\(lost) % of its packets are lost on the way",
      expected: "it learns of it and sends copies, which make good what is lost",
      run: { try await GatewayUnderTest.run { try await run($0) } })
  ]

  private static func run(_ gateway: GatewayUnderTest) async throws -> String {
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
    let peer = try await PythonPeer(.chromium, ["--microphone", microphone.path])
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
    let received = try await Deadline(seconds: speechSeconds).first("copies in place of what is lost") {
      call.statistics(.near).last.flatMap { $0.received.recovered >= leastRecovered ? $0.received : nil }
    }
    try await call.hangUp()
    try await sipp.succeeds()
    try? peer.run("close")
    return "\(received.recovered) of \(received.lost) lost packets were made good from copies"
  }
}
