import Foundation
import PeerKit
import Testing

/// The pages in headless Chromium: every case has a gateway of its own, and all share one browser. They run by
/// themselves, since a browser that waits for its turn hears and measures what is not there.
@Suite("Pages in a browser", .serialized, .timeLimit(.minutes(5)), .alone, SharedPeersEndTrait())
struct BrowserTests {
  private static let hasBrowser = PythonPeer.hasChromium && PeerProgram.flite.isInstalled
  private static let absence = "\(PythonPeer.chromiumAbsence), or flite is: apt-get install flite"
  private static let hasTelephone = hasBrowser && PeerProgram.sipp.isInstalled
  private static let telephoneAbsence = "\(absence), or sipp is: apt-get install sip-tester"

  @Test(
    "Calls from the phone page", .enabled(if: hasTelephone, "\(telephoneAbsence)"),
    arguments: PeerCase.chosen(PhonePageCases.cases))
  func phone(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "The first five minutes", .enabled(if: hasBrowser, "\(absence)"),
    arguments: PeerCase.chosen(DevelopmentPageCases.cases))
  func development(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Calls and the life of the page", .enabled(if: hasBrowser, "\(absence)"),
    arguments: PeerCase.chosen(PageLifeCases.cases))
  func life(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Pages without their gateway, before they are left, without a microphone", .enabled(if: hasBrowser, "\(absence)"),
    arguments: PeerCase.chosen(PageStateCases.cases))
  func states(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Words and drawings of the pages", .enabled(if: hasTelephone, "\(telephoneAbsence)"),
    arguments: PeerCase.chosen(PageWordCases.cases))
  func words(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Looks, and use without sight or pointer", .enabled(if: hasBrowser, "\(absence)"),
    arguments: PeerCase.chosen(PageLookCases.cases))
  func looks(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Who sees what", .enabled(if: hasBrowser, "\(absence)"), arguments: PeerCase.chosen(PageRightCases.cases))
  func rights(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Figures of a call's page and tshark's", .enabled(if: hasTelephone, "\(telephoneAbsence)"),
    .enabled(if: StreamAnalysis.isPossible, "\(StreamAnalysis.absence)"),
    arguments: PeerCase.chosen(PageFigureCases.cases))
  func figures(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Time to connect and to be heard", .enabled(if: hasBrowser, "\(absence)"),
    arguments: PeerCase.chosen(PageTimeCases.cases))
  func times(_ peerCase: PeerCase) async { await peerCase.perform() }
}
