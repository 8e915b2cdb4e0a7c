import Foundation
import PeerKit
import Testing

@Suite("landline recording", .serialized)
struct RecordingCommandTests {
  /// Waits for a call that is up, then for what follows until the call has ended.
  private static func during(_ target: String, _ work: String) -> String {
    """
    landline call \(target) --for 4s > call.txt 2>&1 &
    for n in $(seq 400); do grep -q established call.txt && break; sleep 0.02; done
    \(work)
    wait
    for n in $(seq 200); do landline recording list --json | grep -q '"state":"running"' || break; sleep 0.02; done
    """
  }

  @Test("a call is recorded, listed, saved as a file that plays, and deleted")
  func call() async throws {
    let gateway = try await GatewayProcess.dev()
    let done = try await gateway.shell(
      Self.during(
        "+46701234567",
        """
        landline recording start last --format wav --json
        landline recording start last
        landline recording pause last --json
        landline recording resume last --json
        """) + """

          id=$(landline recording list --call last --json | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
          landline recording list --call last
          landline recording save "$id" heard.wav
          landline recording save "$id" heard.wav
          head -c 4 heard.wav; echo
          stat -c 'size %s' heard.wav
          landline recording delete "$id"
          landline recording save "$id" gone.wav
          ls gone.wav
          """)
    #expect(done.output.contains(#""format":"wav""#) && done.output.contains(#""paused":true"#), "\(done)")
    #expect(done.output.contains(#""paused":false"#) && done.output.contains("complete"), "\(done)")
    #expect(done.output.contains("\nRIFF"), "\(done)")
    // Two channels of 16,000 samples of 16 bits a second, for nearly four seconds.
    let size = done.output.split(separator: "\n").compactMap { $0.hasPrefix("size ") ? Int($0.dropFirst(5)) : nil }
      .first
    #expect((100_000...300_000).contains(size ?? 0), "\(done)")
    #expect(!done.output.contains("gone.wav"), "\(done)")
    for word in ["recorded already", "the file is there already", "no recording has that id"] {
      #expect(done.diagnostics.contains(word), "\(word): \(done)")
    }
  }

  @Test("a conference is recorded until it ends")
  func conference() async throws {
    let gateway = try await GatewayProcess.dev()
    let done = try await gateway.shell(
      Self.during("conf:recorded", "landline recording start conf:recorded --announce") + """

        landline recording list --json
        """)
    #expect(
      done.output.contains(#""conference":"recorded""#) && done.output.contains(#""state":"complete""#), "\(done)")
    #expect(done.output.contains(#""channels":1"#), "\(done)")
  }

  @Test(
    "what is wrong is named, with its exit status",
    arguments: [
      (["start", "conf:empty"], "nobody is in a conference"), (["save", "none"], "no recording has that id"),
      (["delete", "none"], "no recording has that id"), (["stop", "conf:"], "CONFERENCE"),
    ])
  func wrong(_ arguments: [String], _ words: String) async throws {
    let gateway = try await GatewayProcess.dev()
    let refused = try await gateway.run(["recording"] + arguments)
    #expect(refused.status != 0 && refused.diagnostics.contains(words), "\(refused)")
  }
}
