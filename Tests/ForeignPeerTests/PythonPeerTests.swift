import Foundation
import PeerKit
import Testing

/// WebRTC end points of others among themselves: what the tests of our own media rely on.
@Suite("WebRTC peers among themselves", .serialized, .timeLimit(.minutes(5)), .alone, SharedPeersEndTrait())
struct PythonPeerTests {
  struct Call: Sendable, CustomTestStringConvertible {
    let offerer: PythonPeer.Script
    let answerer: PythonPeer.Script
    /// Of the answer.
    let setup: String
    var testDescription: String { "\(offerer) offers, \(answerer) is \(setup)" }
  }

  private static let text = "Thank you for calling. Please hold the line."

  @Test(
    "Speech and digits both ways",
    .enabled(
      if: PythonPeer.hasChromium && PeerProgram.flite.isInstalled,
      "\(PythonPeer.chromiumAbsence), or flite is: apt-get install flite"),
    arguments: [
      Call(offerer: .aiortc, answerer: .chromium, setup: "passive"),
      Call(offerer: .chromium, answerer: .aiortc, setup: "passive"),
    ])
  func call(_ call: Call) async {
    await PeerCase(
      peer: "aiortc", transport: "DTLS", "speech and digits both ways with Chromium: \(call.testDescription)",
      expected: "every word at both ends, digits exact both ways", run: { try await Self.run(call) }
    ).perform()
  }

  private static func run(_ call: Call) async throws -> String {
    let folder = try TemporaryFolder("speech")
    let speech = try await Speech(text, in: folder)
    // What a browser makes of the first packets of a stream is no matter of the speech: they are silence.
    let microphone = folder.url.appendingPathComponent("microphone.wav")
    try SoundFile(speech.file).padded(before: 1, after: 2).write(to: microphone)
    try await SoundJudge.shared.prepare()
    func arguments(_ script: PythonPeer.Script) -> [String] {
      (script == .chromium ? ["--microphone", microphone.path] : [])
        + (script == call.answerer ? ["--setup", call.setup] : [])
    }
    let offerer = try await PythonPeer(call.offerer, arguments(call.offerer))
    let answerer = try await PythonPeer(call.answerer, arguments(call.answerer))
    let (offered, answered) = try await SoundControl.joined(offerer, to: answerer)
    try require(offered.text("role") == "client", "who offers is the DTLS client: \(offered)")
    try require(answered.text("role") == "server", "who is \(call.setup) is the server: \(answered)")

    let (aiortc, chromium) = call.offerer == .aiortc ? (offerer, answerer) : (answerer, offerer)
    let listened = try await Listening.during {
      for peer in [aiortc, chromium] { _ = try await peer.ask("record", for: "recording") }
      try chromium.run("play")
      _ = try await aiortc.ask("play", ["file": microphone.path], for: "played")
      return [
        try await EchoCases.recording(of: aiortc, seconds: SoundFile(microphone).seconds, in: folder),
        try await EchoCases.recording(of: chromium, seconds: SoundFile(microphone).seconds, in: folder),
      ]
    }
    var packets = (received: 0.0, lost: 0.0)
    for peer in [aiortc, chromium] {
      guard let counted = try await SoundControl.packets(of: peer) else { throw PeerFailure("\(peer) counts nothing") }
      packets = (packets.received + counted.received, packets.lost + counted.lost)
    }
    // What follows the speech on the same way arrives behind it.
    _ = try await aiortc.ask("dtmf", ["digits": "27*"], for: "dtmf-sent")
    for _ in 0..<2 { try await aiortc.event("dtmf-sent") }
    try chromium.run("dtmf", ["digits": "159#"])
    for digit in ["1", "5", "9", "#"] {
      try require(try await aiortc.event("dtmf").text("digit") == digit, "aiortc hears \(digit)")
    }
    try await TelephoneCases.tones(of: chromium, in: folder)

    let figures =
      try await SoundControl.figures(
        of: listened.value[0], reference: speech.file, text: text, atLeast: 4, prefix: "at aiortc: ")
      + SoundControl.figures(of: listened.value[1], reference: speech.file, text: text, prefix: "at Chromium: ")
    let heard = Heard(figures, packets: packets, lateness: listened.lateness, seconds: listened.seconds)
    // There is no gateway in it: what was heard is what a control would hear.
    try ListeningCase.judge(heard) { heard }
    return figures.map(\.description).joined(separator: ", ")
  }

  struct Control: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let isPossible: Bool
    let run: ListeningCase.Control
  }

  private static let controls = [
    Control(testDescription: "aiortc and an echo", isPossible: PythonPeer.isInstalled, run: SoundControl.echo(.aiortc)),
    Control(
      testDescription: "Chromium and an echo", isPossible: PythonPeer.hasChromium, run: SoundControl.echo(.chromium)),
    Control(
      testDescription: "baresip and baresip", isPossible: PythonPeer.isInstalled && PeerProgram.baresip.isInstalled,
      run: {
        let folder = try TemporaryFolder("telephone")
        let speech = try await TelephoneCases.spoken(
          TelephoneCases.telephoneText, "telephone", padded: 60, in: folder, rate: 8_000)
        let sound = BaresipPeer.Sound(speech.padded, samplingRate: 8_000, codecs: ["PCMA/8000/1"])
        return try await SoundControl.telephones(sound, speech.plain, TelephoneCases.telephoneText, in: folder)()
      }),
  ]

  /// One that is never good would excuse whatever is compared with it.
  @Test(
    "What calls through a gateway are compared with is good",
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: controls.filter(\.isPossible))
  func control(_ control: Control) async {
    await PeerCase(
      peer: control.testDescription, transport: "", "compared with: \(control.testDescription)",
      expected: "PESQ of the codec alone, every word"
    ) {
      try await SoundJudge.shared.prepare()
      let heard = try await control.run()
      try ListeningCase.judge(heard) { heard }
      return heard.figures.map(\.description).joined(separator: ", ")
    }.perform()
  }
}
