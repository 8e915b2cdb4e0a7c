import CallModel
import CallStory
import Foundation
import LandlineHTTP
import PeerKit

/// The figures of a call's page, and what tshark makes of the same packets.
enum PageFigureCases {
  static let cases: [PeerCase] = [
    make("SIPp's echo, nothing lost", number: GatewayRate.number, hasTelephone: true),
    make("an echo with 2 % loss", number: "+46000000203", hasTelephone: false),
  ]

  /// Rows of the page's table: what comes from the app, goes to it, comes from the trunk, goes there.
  private enum Row: Int { case fromApp, toApp, fromTrunk, toTrunk }

  private struct Figures: CustomStringConvertible {
    let packets: Int
    let lost: Int
    /// Milliseconds.
    let jitter: Double
    var description: String { "\(packets) packets, \(lost) lost, jitter \(rounded(jitter)) ms" }
  }

  private static func make(_ name: String, number: String, hasTelephone: Bool) -> PeerCase {
    BrowserCase.make(
      "figures: \(name)", expected: "packets and loss equal, jitter within 1 ms", hasTelephone: hasTelephone
    ) { peer, gateway, telephone in
      let window = try await BrowserWindow(peer, gateway, as: .owner)
      let capture = try await PacketCapture(ports: gateway.ports.trunk, and: gateway.ports.app)
      let folder = try TemporaryFolder("figures")
      let listened = try await Listening.during {
        let call = try await window.call(number)
        // Enough packets that two of a hundred are some.
        _ = try await window.heard(seconds: 6, in: folder)
        try await window.run("hang-up")
        return call
      }
      let call = listened.value
      _ = try await window.ended(call)
      _ = try await gateway.record(call, in: "sandbox")
      try await telephone?.succeeds()
      let streams = try await capture.streams()
      let rows = try await shown(window, call)
      let port = try await trunkPort(of: call, gateway)
      try await window.close()
      let (told, jitters) = try compared(
        rows, streams, app: gateway.ports.app, trunk: port, mustLose: !hasTelephone)
      try ListeningCase.judge(Heard(jitters, lateness: listened.lateness, seconds: listened.seconds))
      return told
    }
  }

  /// Where the gateway took the trunk's sound, as it told the trunk: the far end of the sandbox has ports like the gateway's.
  private static func trunkPort(of call: String, _ gateway: GatewayRunning) async throws -> UInt16 {
    let reader = StoryReader(try gateway.stores("sandbox"))
    let story = try await Deadline(seconds: 20).first("the story of \(call)", everyMilliseconds: 100) {
      () -> CallStory? in
      let sources = try await reader.sources(of: CallID(unchecked: call))
      return sources?.trace == nil ? nil : sources.map(CallStory.tell)
    }
    let offer = story.descriptions.first { $0.side == .far && $0.role == "offer" }
    let line = offer?.text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("m=audio ") }
    guard let port = line?.split(separator: " ").dropFirst().first.flatMap({ UInt16($0) }) else {
      throw PeerFailure("no port in the offer to the trunk: \(offer?.text ?? "")")
    }
    return port
  }

  /// What the page of the call says.
  private static func shown(_ window: BrowserWindow, _ call: String) async throws -> [Figures] {
    try await window.run("visit", ["path": "/calls/\(call)"])
    let found = try await window.run("tables")
    guard
      let place = (0..<found.count("tables")).first(where: {
        found.text("tables.\($0).caption") == "Packets of each direction"
      })
    else { throw PeerFailure("no table of packets on the page: \(found)") }
    func number(_ row: Int, _ column: Int) -> Double? {
      let text = found.text("tables.\(place).rows.\(row).\(column)")?.replacing(",", with: "")
      return text?.split(separator: " ").first.flatMap { Double($0) }
    }
    // The first row is the head.
    return try (1..<found.count("tables.\(place).rows")).map { row in
      guard let packets = number(row, 1), let lost = number(row, 3), let jitter = number(row, 4) else {
        throw PeerFailure("no figures in row \(row): \(found)")
      }
      return Figures(packets: Int(packets), lost: Int(lost), jitter: jitter)
    }
  }

  /// Packets that may come when the call has ended for us already, and not for who sends them.
  private static let mostLate = 10
  /// Milliseconds.
  private static let mostDifference = 1.0

  private static func compared(
    _ rows: [Figures], _ streams: [PacketCapture.Stream], app: UInt16, trunk: UInt16, mustLose: Bool
  ) throws -> (told: String, jitters: [Heard.Figure]) {
    try require(rows.count == 4, "four directions: \(rows)")
    func longest(_ isWanted: (PacketCapture.Stream) -> Bool) throws -> PacketCapture.Stream {
      guard let found = streams.first(where: isWanted) else {
        throw PeerFailure("tshark misses a stream: \(streams.map { "\($0.source) \($0.target) \($0.packets.count)" })")
      }
      return found
    }
    let fromTrunk = try longest { $0.target == trunk }
    let toTrunk = try longest { $0.source == trunk && $0.target == fromTrunk.source }
    let fromApp = try longest { $0.target == app }
    let toApp = try longest { $0.source == app }
    var told: [String] = []
    var problems: [String] = []
    var jitters: [Heard.Figure] = []
    for (row, stream, clockRate) in [
      (Row.fromApp, fromApp, 48_000.0), (.toApp, toApp, 48_000), (.fromTrunk, fromTrunk, 8_000),
      (.toTrunk, toTrunk, 8_000),
    ] {
      let ours = rows[row.rawValue]
      let lost = stream.lost(among: ours.packets)
      let jitter = stream.jitter(among: ours.packets, clockRate: clockRate)
      told.append(
        "\(row): \(ours); tshark: \(stream.packets.count) packets, \(lost) lost, jitter \(rounded(jitter)) ms")
      let late = stream.packets.count - ours.packets
      // What we sent is what was on the wire; of what we received some may have come after the end.
      let isReceived = row == .fromApp || row == .fromTrunk
      if late < 0 || late > (isReceived ? mostLate : 0) { problems.append("packets \(row)") }
      // Who receives counts what is missing and late; of what is sent the other side tells by RTCP.
      guard isReceived else { continue }
      if ours.lost != lost { problems.append("lost \(row)") }
      // Each takes the time of a packet where it meets it, and either may be late for that.
      jitters.append(
        .init("jitter \(row), ms beside tshark's", ours.jitter - jitter, -mostDifference...mostDifference))
    }
    try require(problems.isEmpty, "the same figures; not so: \(problems); \(told.joined(separator: "; "))")
    let lost = rows[Row.fromTrunk.rawValue].lost
    let share = Double(lost) / Double(max(1, fromTrunk.packets.count + lost))
    try require(mustLose ? (0.005...0.05).contains(share) : lost == 0, "what is lost on purpose: \(told)")
    return (told.joined(separator: "; "), jitters)
  }
}
