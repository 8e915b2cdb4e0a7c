import PeerKit
import Testing

/// landline.js in a browser of others, against whole gateways.
@Suite("Calls with landline.js", .serialized, .timeLimit(.minutes(10)), .alone, SharedPeersEndTrait())
struct LibraryTests {
  private static let hasSIPp = PythonPeer.hasChromium && PeerProgram.sipp.isInstalled

  @Test(
    "Calls",
    .enabled(if: hasSIPp, "\(PythonPeer.chromiumAbsence), or sipp is: apt-get install sip-tester"),
    arguments: PeerCase.chosen(LibraryCases.cases))
  func calls(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Users", .enabled(if: PythonPeer.hasChromium, "\(PythonPeer.chromiumAbsence)"),
    arguments: PeerCase.chosen(LibraryUserCases.cases))
  func users(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Sessions", .enabled(if: PythonPeer.hasChromium, "\(PythonPeer.chromiumAbsence)"),
    arguments: PeerCase.chosen(LibrarySessionCases.cases))
  func sessions(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Sound files", .enabled(if: PythonPeer.hasChromium, "\(PythonPeer.chromiumAbsence)"),
    arguments: PeerCase.chosen(LibrarySoundCases.cases))
  func sounds(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Other origins", .enabled(if: PythonPeer.hasChromium, "\(PythonPeer.chromiumAbsence)"),
    arguments: PeerCase.chosen(SnippetCases.cases))
  func origins(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Scenarios", .enabled(if: PythonPeer.hasChromium, "\(PythonPeer.chromiumAbsence)"),
    arguments: PeerCase.chosen(LibraryScenarioCases.cases))
  func scenarios(_ peerCase: PeerCase) async { await peerCase.perform() }
}
