import Foundation
import MediaCore
import PeerKit
import SDPCore

/// The peers of a case joined without a gateway: what they and the machine can do in this minute.
enum SoundControl {
  private static let text = "Thank you for calling. Please hold the line."
  /// How much worse than its codec alone an app's own echo may be, in PESQ: a browser stretches time to fill and drain its
  /// jitter buffer.
  static let mostLost: [PythonPeer.Script: Double] = [.aiortc: 0.1, .chromium: 0.35]
  /// The share of words that must be recognised. The speech model mishears one word of a long sentence now and then though
  /// the sound is whole ("date way" for "gateway"); half a second that is missing costs more than one in ten.
  private static let leastWords = 0.9

  /// An app says something to an end point of aiortc that sends back every packet as it came.
  /// - Parameter app: ``PythonPeer/Script/aiortc`` or ``PythonPeer/Script/chromium``.
  static func echo(_ app: PythonPeer.Script) -> ListeningCase.Control {
    {
      let folder = try TemporaryFolder("control")
      let speech = try await Speech(text, in: folder)
      let microphone = folder.url.appendingPathComponent("microphone.wav")
      let original = try SoundFile(speech.file)
      try original.padded(before: 1, after: 2).write(to: microphone)
      let peer = try await PythonPeer(app, app == .chromium ? ["--microphone", microphone.path] : [])
      let echo = try await PythonPeer(.aiortc, ["--echo"])
      try await joined(peer, to: echo)
      let heard = try await Listening.during {
        try await EchoCases.recorded(by: peer, saying: microphone, as: app, in: folder)
      }
      let packets = try await packets(of: peer)
      for end in [peer, echo] { _ = try await end.ask("close", for: "closed") }
      let alone = folder.url.appendingPathComponent("codecs.wav")
      try original.through(.opus, decodedAt: 8_000).write(to: alone)
      let best = try await SoundJudge.shared.quality(of: alone, reference: speech.file).number("pesq") ?? 0
      let figures = try await figures(
        of: heard.value, reference: speech.file, text: text, atLeast: best - (mostLost[app] ?? 0))
      return Heard(figures, packets: packets, lateness: heard.lateness, seconds: heard.seconds)
    }
  }

  /// One baresip calls another and says something.
  /// - Parameters:
  ///   - sound: as in the case; its file must be longer than the reference.
  ///   - reference: what is said.
  ///   - folder: where the files lie; the control holds it, since it runs when the case is over.
  static func telephones(
    _ sound: BaresipPeer.Sound, _ reference: URL, _ text: String, in folder: TemporaryFolder
  ) -> ListeningCase.Control {
    {
      let said = folder.url.appendingPathComponent("said.wav")
      try SoundFile(reference).padded(before: 1.5, after: 1.5).write(to: said)
      var speaking = sound
      speaking.file = said
      let callee = try await BaresipPeer(transport: .udp, answerMode: .auto, sound: sound)
      let caller = try await BaresipPeer(transport: .udp, sound: speaking)
      let heard = try await Listening.during {
        try caller.run("dial", "sip:bob@127.0.0.1:\(callee.port);transport=udp")
        // It hangs up at the end of its file.
        try await callee.event("CALL_CLOSED", within: 30)
      }
      let kept = try await Deadline(seconds: 5).first("recording of baresip") { callee.recording }
      return Heard(
        try await figures(of: kept, reference: reference, text: text), lateness: heard.lateness,
        seconds: heard.seconds)
    }
  }

  /// One control after the other, as one.
  static func all(_ controls: [ListeningCase.Control]) -> ListeningCase.Control {
    {
      var sum = Heard([], seconds: 0)
      for control in controls {
        let heard = try await control()
        sum.figures += heard.figures
        sum.packets = sum.packets ?? heard.packets
        sum.lateness += heard.lateness
        sum.seconds += heard.seconds
      }
      return sum
    }
  }

  /// Joins two end points of WebRTC.
  /// - Returns: what each says of the connection.
  @discardableResult
  static func joined(
    _ offerer: PythonPeer, to answerer: PythonPeer
  ) async throws -> (offerer: PythonEvent, answerer: PythonEvent) {
    let offer = try await offerer.ask("offer", for: "offer").text("sdp") ?? ""
    let answer = try await answerer.ask("remote", ["type": "offer", "sdp": offer], for: "answer").text("sdp") ?? ""
    try offerer.run("remote", ["type": "answer", "sdp": answer])
    return (try await offerer.event("connected"), try await answerer.event("connected"))
  }

  /// What a peer had and what it found missing.
  static func packets(of peer: PythonPeer) async throws -> (received: Double, lost: Double)? {
    let figures = try await peer.ask("stats", for: "stats")
    guard let received = figures.number("packetsReceived"), let lost = figures.number("packetsLost") else { return nil }
    return (received, max(0, lost))
  }

  /// Judges a recording by its words, and by what else is given.
  /// - Returns: all that was said.
  static func words(
    of recording: URL, expected text: String, and more: [Heard.Figure] = [], _ lateness: [Lateness], _ seconds: Double,
    as app: PythonPeer.Script
  ) async throws -> String {
    let said = try await SoundJudge.shared.transcript(of: recording, expected: text)
    var figures = more
    let heard = said.text("skipped") == nil ? said.text("text") ?? "" : "no speech model"
    if said.text("skipped") == nil {
      figures.append(.init("words of \"\(text)\", heard as \"\(heard)\"", said.number("share"), atLeast: leastWords))
    }
    try ListeningCase.judge(Heard(figures, lateness: lateness, seconds: seconds), control: echo(app))
    return heard
  }

  /// Words, start and, where a bound is given, PESQ of a recording.
  static func figures(
    of recording: URL, reference: URL, text: String, atLeast leastPESQ: Double? = nil, prefix: String = ""
  ) async throws -> [Heard.Figure] {
    let quality = try await SoundJudge.shared.quality(of: recording, reference: reference)
    let said = try await SoundJudge.shared.transcript(of: recording, expected: text)
    var figures = [
      Heard.Figure("\(prefix)PESQ", quality.number("pesq"), atLeast: leastPESQ ?? 0),
      Heard.Figure("\(prefix)start", quality.number("start"), atLeast: 0.9),
    ]
    // Without a speech model the shape of the sound must do.
    figures.append(
      said.text("skipped") == nil
        ? Heard.Figure("\(prefix)words", said.number("share"), atLeast: leastWords)
        : Heard.Figure("\(prefix)correlation", quality.number("correlation"), atLeast: 0.5))
    return figures
  }
}
