import CallModel
import Foundation
import MediaCore
import PeerKit
import SDPCore
import SecureTransport

/// An app and baresip talk to each other through our bridge, both at once, and press keys.
enum TelephoneCases {
  static let appText = "Thank you for calling. Please hold the line."
  static let telephoneText = "Your call is important to us. Please stay on the line."

  private struct Trunk: Sendable {
    let codec: AudioCodec
    /// As baresip calls it.
    let name: String
    var protection: MediaPolicy.Protection = .none
    var isLong = false
    /// Beside Opus, another one brings the events of 8000 ticks a second that baresip knows.
    var offered: [AudioCodec] { codec == .opus ? [.opus, .pcmu] : [codec] }
  }

  static let aiortcCases = [
    Trunk(codec: .pcma, name: "PCMA/8000/1"),
    Trunk(codec: .pcmu, name: "PCMU/8000/1", protection: .sdes, isLong: true),
    Trunk(codec: .g722, name: "G722/16000/1", protection: .sdes),
    Trunk(codec: .opus, name: "opus/48000/2", protection: .sdes),
    Trunk(codec: .opus, name: "opus/48000/2", isLong: true),
  ].map { make(.aiortc, $0) }

  static let chromiumCases = [
    Trunk(codec: .pcmu, name: "PCMU/8000/1", protection: .sdes),
    Trunk(codec: .opus, name: "opus/48000/2", protection: .sdes, isLong: true),
    Trunk(codec: .g722, name: "G722/16000/1", isLong: true),
  ].map { make(.chromium, $0) }

  private static func make(_ app: PythonPeer.Script, _ trunk: Trunk) -> PeerCase {
    PeerCase(
      peer: app == .aiortc ? "aiortc" : "Chromium", transport: "DTLS",
      "speech and digits both ways: baresip, \(trunk.codec.rawValue)\(trunk.protection == .sdes ? ", SDES-SRTP" : "")",
      expected: "every word at both ends, digits exact both ways", isLong: trunk.isLong
    ) {
      try await GatewayUnderTest.run { try await run($0, app, trunk) }
    }
  }

  private static func run(_ gateway: GatewayUnderTest, _ app: PythonPeer.Script, _ trunk: Trunk) async throws -> String
  {
    let folder = try TemporaryFolder("telephone")
    let microphone = try await spoken(appText, "app", padded: 3, in: folder)
    let rate = [AudioCodec.pcmu, .pcma].contains(trunk.codec) ? 8_000 : 16_000
    // baresip hangs up at the end of its file.
    let telephone = try await spoken(telephoneText, "telephone", padded: 60, in: folder, rate: rate)
    try await SoundJudge.shared.prepare()
    let sound = BaresipPeer.Sound(
      telephone.padded, samplingRate: rate, codecs: [trunk.name], requiresSRTP: trunk.protection == .sdes)
    let baresip = try await BaresipPeer(transport: .udp, answerMode: .auto, sound: sound)
    let peer = try await PythonPeer(app, app == .chromium ? ["--microphone", microphone.padded.path] : [])
    let call = try await gateway.open(BridgedCall.Terms(trunk.offered, protection: trunk.protection))
    try await call.join(peer, appOffers: true)
    _ = try await peer.ask("record", for: "recording")
    do {
      try await call.dial(baresip.port, user: "bob")
      let suite = try await call.answered()
      try require((suite != nil) == (trunk.protection == .sdes), "SRTP as asked for, not \(String(describing: suite))")
      let longest = max(try SoundFile(microphone.plain).seconds, try SoundFile(telephone.plain).seconds)
      let listened = try await Listening.during {
        _ = try await peer.ask(
          "play", app == .chromium ? [:] : ["file": microphone.padded.path], for: "playing")
        return try await EchoCases.recording(of: peer, seconds: longest + 2.5, in: folder)
      }
      let packets = try await SoundControl.packets(of: peer)
      let pressed = try await press(call, peer, baresip, app)
      // Beside Opus baresip counts the ticks of its events at 48000, though it agreed to 8000: the browser's tones run
      // into each other.
      if app == .chromium && trunk.codec != .opus { try await tones(of: peer, in: folder) }
      try await call.hangUp()
      try await baresip.event("CALL_CLOSED")
      try? peer.run("close")
      let kept = try await Deadline(seconds: 5).first("recording of baresip") {
        baresip.recording
      }
      let figures =
        try await SoundControl.figures(
          of: listened.value, reference: telephone.plain, text: telephoneText, prefix: "at the app: ")
        + SoundControl.figures(of: kept, reference: microphone.plain, text: appText, prefix: "at baresip: ")
      try ListeningCase.judge(
        Heard(figures, packets: packets, lateness: listened.lateness, seconds: listened.seconds),
        control: SoundControl.all([
          SoundControl.echo(app), SoundControl.telephones(sound, telephone.plain, telephoneText, in: folder),
        ]))
      return "\(figures.map(\.description).joined(separator: ", ")); \(pressed); \(suite?.rawValue ?? "RTP")"
    } catch { throw PeerFailure("\(error); baresip: \(baresip.log.lastLines(12))") }
  }

  /// A browser tells nobody of events, but plays them as tones.
  static func tones(of peer: PythonPeer, in folder: TemporaryFolder) async throws {
    let file = folder.url.appendingPathComponent("tones.wav")
    var last = ""
    _ = try await Deadline(seconds: 10).first("27* as tones; there were \(last)", everyMilliseconds: 200) {
      _ = try await peer.ask("save", ["file": file.path], for: "saved")
      let heard = try await SoundJudge.shared.digits(in: file)
      last = heard.description
      return heard.text("digits")?.hasSuffix("27*") == true ? heard : nil
    }
  }

  /// Keys of both ends, one after the other.
  private static func press(
    _ call: BridgedCall, _ peer: PythonPeer, _ baresip: BaresipPeer, _ app: PythonPeer.Script
  ) async throws -> String {
    try peer.run("dtmf", ["digits": "159#"])
    try require(try await call.digits(.near, count: 4) == "159#", "the app's digits: \(call.digits(.near))")
    let heard = try await Deadline(seconds: 20).first("4 digits at baresip; it heard \(digits(of: baresip))") {
      digits(of: baresip).count >= 4 ? digits(of: baresip) : nil
    }
    try require(heard == "159#", "digits at baresip: \(heard)")
    for (number, digit) in "27*".enumerated() {
      try baresip.run("sndcode", String(digit))
      try require(
        try await call.digits(.far, count: number + 1).last == digit, "baresip's digits: \(call.digits(.far))")
      if app == .aiortc {
        try require(try await peer.event("dtmf").text("digit") == String(digit), "the app hears \(digit)")
      }
    }
    let lengths = call.events.compactMap { event -> Int? in
      if case .digit(.far, let digit) = event { return digit.milliseconds }
      return nil
    }
    return "159# and 27* of \(lengths.map(String.init).joined(separator: ", ")) ms"
  }

  static func digits(of baresip: BaresipPeer) -> String {
    baresip.events("CALL_DTMF_START").compactMap { event in
      event.range(of: "\"param\":\"").map { String(event[$0.upperBound...].prefix(1)) }
    }.joined()
  }

  /// Speech as it is, and with silence around it.
  static func spoken(
    _ text: String, _ name: String, padded seconds: Double, in folder: TemporaryFolder, rate: Int = 16_000
  ) async throws -> (plain: URL, padded: URL) {
    let own = try TemporaryFolder(name)
    let sound = try SoundFile(try await Speech(text, in: own).file).converted(to: rate)
    let plain = folder.url.appendingPathComponent("\(name).wav")
    let padded = folder.url.appendingPathComponent("\(name)-padded.wav")
    try sound.write(to: plain)
    try sound.padded(before: 1.5, after: seconds).write(to: padded)
    return (plain, padded)
  }
}
