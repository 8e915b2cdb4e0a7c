import Foundation
import MediaCore
import PeerKit
import SDPCore

/// What we say of a stream that loses packets, and what tshark says of it.
enum LossCases {
  static let cases = [
    PeerCase(
      peer: "aiortc", transport: "DTLS", "loses 5 %: our figures and tshark's",
      expected: "packets and losses equal, jitter within 20 % or 1 ms",
      run: { try await GatewayUnderTest.run { try await run($0) } })
  ]

  private static func run(_ gateway: GatewayUnderTest) async throws -> String {
    let folder = try TemporaryFolder("loss")
    let speech = try await Speech(EchoCases.text, in: folder)
    async let telephone = EchoCases.echo(.pcmu)
    let analysis = try await StreamAnalysis(port: gateway.appPort)
    // The payload type of PCMU says its clock to tshark too, which cannot read the description.
    let peer = try await PythonPeer(.aiortc, ["--codec", "pcmu"])
    let call = try await gateway.open(BridgedCall.Terms([.pcmu]))
    try peer.run("impair", ["loss": 0.05])
    try await call.join(peer, appOffers: true)
    let sipp = try await telephone
    try await call.dial(sipp.port)
    try await call.answered()
    _ = try await peer.ask("play", ["file": speech.file.path], for: "playing")
    try await peer.event("played")
    let sent = try await peer.ask("stats", for: "stats")
    _ = try await peer.ask("close", for: "closed")
    // The next figures are of the whole stream.
    let seen = call.statistics(.left).count
    let statistics = try await Deadline(seconds: 5).first("figures after the stream") {
      call.statistics(.left).count > seen + 1 ? call.statistics(.left) : nil
    }
    let streams = try await analysis.streams()
    try await call.hangUp()
    try await sipp.succeeds()

    let port = gateway.appPort
    guard let theirs = streams.first(where: { $0.target == port }), let ours = statistics.last?.received else {
      throw PeerFailure("no stream to port \(port): \(streams)")
    }
    let jitters = statistics.map(\.received.jitter).filter { $0 > 0 }
    let jitter = jitters.reduce(0, +) / Double(max(1, jitters.count))
    let result =
      "packets \(ours.packets) and \(theirs.packets), lost \(ours.lost) and \(theirs.lost), "
      + "jitter \(rounded(jitter)) and \(rounded(theirs.meanJitter)) ms, dropped by it: \(rounded(sent.number("dropped")))"
    try require(ours.packets == UInt64(theirs.packets), result)
    try require(ours.lost == Int64(theirs.lost) && ours.lost > 0, result)
    try require(abs(jitter - theirs.meanJitter) <= max(1, theirs.meanJitter * 0.2), result)
    return result
  }
}
