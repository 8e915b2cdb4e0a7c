import PeerKit
import Testing

/// The pages in headless Firefox ESR, as it is delivered. By themselves: what is heard is listened to in real time.
@Suite("Pages in Firefox", .serialized, .timeLimit(.minutes(5)), .alone, SharedPeersEndTrait())
struct FirefoxTests {
  @Test(
    "Calls from the phone page", .enabled(if: PythonPeer.hasFirefox, "\(PythonPeer.firefoxAbsence)"),
    arguments: PeerCase.chosen(FirefoxCases.cases))
  func calls(_ peerCase: PeerCase) async { await peerCase.perform() }
}
