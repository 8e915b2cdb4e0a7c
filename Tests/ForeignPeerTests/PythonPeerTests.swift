import Foundation
import PeerKit
import Testing

/// WebRTC end points of others among themselves: what the tests of our own media rely on.
@Suite("WebRTC peers among themselves", .serialized)
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
  func call(_ call: Call) async throws {
    let folder = try TemporaryFolder("speech")
    let speech = try await Speech(Self.text, in: folder)
    func arguments(_ script: PythonPeer.Script) -> [String] {
      (script == .chromium ? ["--microphone", speech.file.path] : [])
        + (script == call.answerer ? ["--setup", call.setup] : [])
    }
    let offerer = try await PythonPeer(call.offerer, arguments(call.offerer))
    let answerer = try await PythonPeer(call.answerer, arguments(call.answerer))
    let offer = try await offerer.ask("offer", for: "offer").text("sdp") ?? ""
    let answer = try await answerer.ask("remote", ["type": "offer", "sdp": offer], for: "answer").text("sdp") ?? ""
    #expect(answer.contains("a=setup:\(call.setup)"))
    try offerer.run("remote", ["type": "answer", "sdp": answer])
    #expect(try await offerer.event("connected").text("role") == "client")
    #expect(try await answerer.event("connected").text("role") == "server")

    let (aiortc, chromium) = call.offerer == .aiortc ? (offerer, answerer) : (answerer, offerer)
    for peer in [aiortc, chromium] { _ = try await peer.ask("record", for: "recording") }
    try chromium.run("play")
    _ = try await aiortc.ask("play", ["file": speech.file.path], for: "played")
    // What follows the speech on the same way arrives behind it.
    _ = try await aiortc.ask("dtmf", ["digits": "27*"], for: "dtmf-sent")
    _ = try await aiortc.event("dtmf-sent")
    _ = try await aiortc.event("dtmf-sent")
    try chromium.run("dtmf", ["digits": "159#"])
    for digit in ["1", "5", "9", "#"] { #expect(try await aiortc.event("dtmf").text("digit") == digit) }

    let judge = try await PythonPeer(.judge)
    for peer in [aiortc, chromium] {
      let file = folder.url.appendingPathComponent("heard.wav").path
      _ = try await peer.ask("save", ["file": file], for: "saved")
      let said = try await judge.ask("transcript", ["recording": file, "expected": Self.text], for: "judged")
      #expect(said.text("skipped") != nil || said.number("share") == 1, "\(said)")
      let quality = try await judge.ask(
        "quality", ["recording": file, "reference": speech.file.path], for: "judged")
      #expect(quality.number("start") ?? 0 > 0.9, "\(quality)")
      if peer === chromium {
        #expect(try await judge.ask("digits", ["recording": file], for: "judged").text("digits") == "27*")
      } else {
        #expect(quality.number("pesq") ?? 0 > 4, "\(quality)")
      }
    }
  }
}
