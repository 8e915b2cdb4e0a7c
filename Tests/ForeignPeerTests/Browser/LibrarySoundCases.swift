import Foundation
import PeerKit

/// Sound files of landline.js: for the page's own user, and for the other side.
enum LibrarySoundCases {
  /// Hz: that of ``LibraryPage/tone``. The page has no microphone, so that nothing else can be it.
  private static let fileTone = 440

  static let cases = [
    LibraryCase.make("sound files", expected: "one for the user alone, one for the other side, one at a time each") {
      try await files($0)
    }
  ]

  private static func files(_ page: LibraryPage) async throws -> String {
    try await page.connected()
    // Without a microphone: what comes back is the file alone.
    let call = try await page.established("+46000000202", ["microphone": false])
    let played = try await page.peer.ask(
      "playFile", ["frequency": fileTone, "milliseconds": 500, "loop": true], for: "file-playing")
    try require(played.flag("isPlaying") == true, "it plays: \(played)")
    let own = try await page.peer.ask("hearOwn", for: "own-heard")
    try require(own.flag("heard") == true, "the user hears it: \(own)")
    try await page.hears(LibraryPage.silence, "the other side does not")
    let stopped = try await page.peer.ask("stopFile", for: "file-stopped")
    try require(stopped.flag("isPlaying") == false, "it stopped: \(stopped)")
    let sent = try await page.peer.ask(
      "sendFile", ["frequency": fileTone, "milliseconds": 5_000, "loop": true, "mode": "inPlace"], for: "file-sending")
    try require(sent.flag("isSending") == true, "it is sent: \(sent)")
    try await page.hears(LibraryPage.tone, "the other side sends it back")
    let over = try await page.peer.ask("stopSending", for: "sending-stopped")
    try require(over.flag("isSending") == false, "it stopped: \(over)")
    try await page.hears(LibraryPage.silence, "nothing again")
    // The end of a file is its end.
    let short = try await page.peer.ask(
      "playFile", ["frequency": fileTone, "milliseconds": 200, "loop": false], for: "file-playing")
    try require(short.flag("isPlaying") == true, "it plays once: \(short)")
    _ = try await page.peer.ask("fileOver", for: "file-over")
    let refusal = try await page.peer.ask("badFile", for: "file-refused")
    try require(refusal.text("code") == "capability.local", "what is no sound: \(refusal)")
    try await page.hangUp()
    _ = try await page.ended()
    try await page.gateway.uncharged(call, page.payer)
    return "played, sent, stopped and refused"
  }
}
