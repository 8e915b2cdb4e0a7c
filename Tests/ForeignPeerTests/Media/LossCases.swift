import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore

/// What we say of a stream that loses packets, and what tshark says of it.
enum LossCases {
  static let cases = [
    PeerCase(
      peer: "aiortc", transport: "DTLS", "loses 5 % and jitters: our figures and tshark's",
      expected: "packets and losses equal, jitter within 20 % or 1 ms",
      run: { try await GatewayUnderTest.run { try await run($0) } })
  ]

  private static func run(_ gateway: GatewayUnderTest) async throws -> String {
    let folder = try TemporaryFolder("loss")
    let speech = folder.url.appendingPathComponent("long.wav")
    try SoundFile(try await Speech(EchoCases.text, in: folder).file).padded(before: 1, after: 2).write(to: speech)
    async let telephone = EchoCases.echo(.pcmu)
    // The payload type of PCMU says its clock to tshark too, which cannot read the description.
    let peer = try await PythonPeer(.aiortc, ["--codec", "pcmu"])
    let call = try await gateway.open(BridgedCall.Terms([.pcmu]))
    let trunkPort = gateway.log.trunkPorts[0]
    let analysis = try await StreamAnalysis(ports: [gateway.appPort, trunkPort])
    try peer.run("impair", ["loss": 0.05, "jitter": 12])
    try await call.join(peer, appOffers: true)
    let sipp = try await telephone
    try await call.dial(sipp.port)
    try await call.answered()
    let listened = try await Listening.during {
      _ = try await peer.ask("play", ["file": speech.path], for: "playing")
      try await peer.event("played")
    }
    let sent = try await peer.ask("stats", for: "stats")
    _ = try await peer.ask("close", for: "closed")
    // Figures that come later are of the whole stream.
    let seen = call.statistics(.far).count
    _ = try await Deadline(seconds: 5).first("figures after the stream") {
      call.statistics(.far).count > seen + 1 ? true : nil
    }
    let streams = try await analysis.streams()
    try await call.hangUp()
    try await sipp.succeeds()

    var results: [String] = []
    for (side, port) in [(LegID.near, gateway.appPort), (.far, trunkPort)] {
      guard let theirs = streams.first(where: { $0.target == port }), let ours = call.statistics(side).last?.received
      else { throw PeerFailure("no stream to port \(port): \(streams)") }
      results.append("packets \(ours.packets) and \(theirs.packets), lost \(ours.lost) and \(theirs.lost)")
      try require(ours.packets == UInt64(theirs.packets), results.joined(separator: "; "))
      // What is lost on the way in is missing on the way out: the same codec is passed on as it is. Nobody can tell the
      // loss of a stream's last packets, nor the trunk what was lost before it answered.
      try require(ours.lost == Int64(theirs.lost), results.joined(separator: "; "))
      let dropped = Int64(sent.number("dropped") ?? 0)
      try require((max(1, dropped - 3)...max(1, dropped)).contains(ours.lost), "\(results), the app dropped \(sent)")
    }
    let jitters = call.statistics(.far).map(\.received.jitter).filter { $0 > 0 }
    let jitter = jitters.reduce(0, +) / Double(max(1, jitters.count))
    let theirs = streams.first { $0.target == trunkPort }?.meanJitter ?? 0
    results.append("jitter \(rounded(jitter)) and \(rounded(theirs)) ms")
    try require(theirs > 0, "tshark measures jitter: \(results)")
    // Each takes the time of a packet where it meets it, and either may be late for that.
    let most = max(1, theirs * 0.2)
    try ListeningCase.judge(
      Heard(
        [.init("jitter, ms beside tshark's", jitter - theirs, -most...most)], lateness: listened.lateness,
        seconds: listened.seconds))
    return results.joined(separator: "; ")
  }
}
