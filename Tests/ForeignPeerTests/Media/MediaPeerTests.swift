import Foundation
import PeerKit
import SDPCore
import Testing

/// Whole calls with sound: an app of others on one side of our bridge, a telephone of others on the other. One at a time,
/// since all of them keep a processor busy. Every case is a row of the table that `Deploy/peers` prints.
@Suite("Media with foreign peers", .serialized, .timeLimit(.minutes(5)), .alone, SharedPeersEndTrait())
struct MediaPeerTests {
  @Test(
    "aiortc and SIPp's echo",
    .enabled(if: PythonPeer.isInstalled && PeerProgram.sipp.isInstalled, "\(PythonPeer.absence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen(EchoCases.cases(.aiortc)))
  func aiortcEcho(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "A call under attack",
    .enabled(if: PythonPeer.isInstalled && PeerProgram.sipp.isInstalled, "\(PythonPeer.absence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen([EchoCases.attacked]))
  func attacked(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Chromium and SIPp's echo",
    .enabled(
      if: PythonPeer.hasChromium && PeerProgram.sipp.isInstalled, "\(PythonPeer.chromiumAbsence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen(EchoCases.cases(.chromium)))
  func chromiumEcho(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Figures of loss",
    .enabled(if: PythonPeer.isInstalled && PeerProgram.sipp.isInstalled, "\(PythonPeer.absence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    .enabled(if: StreamAnalysis.isPossible, "\(StreamAnalysis.absence)"), arguments: PeerCase.chosen(LossCases.cases))
  func loss(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Copies of Chromium",
    .enabled(
      if: PythonPeer.hasChromium && PeerProgram.sipp.isInstalled, "\(PythonPeer.chromiumAbsence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen(CopiesCases.cases))
  func copies(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "aiortc and baresip",
    .enabled(
      if: PythonPeer.isInstalled && PeerProgram.baresip.isInstalled, "\(PythonPeer.absence), or baresip is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen(TelephoneCases.aiortcCases))
  func aiortcAndTelephone(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Chromium and baresip",
    .enabled(
      if: PythonPeer.hasChromium && PeerProgram.baresip.isInstalled,
      "\(PythonPeer.chromiumAbsence), or baresip is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: PeerCase.chosen(TelephoneCases.chromiumCases))
  func chromiumAndTelephone(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "A voice in a conference",
    .enabled(if: PythonPeer.isInstalled && PeerProgram.flite.isInstalled, "\(PythonPeer.absence), or flite is absent"),
    arguments: PeerCase.chosen(ConferenceSoundCases.cases))
  func conferenceSound(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "A bridge that drops 5 % of the packets is found at the first try, whoever was late",
    .enabled(if: PythonPeer.isInstalled && PeerProgram.sipp.isInstalled, "\(PythonPeer.absence), or sipp is absent"),
    .enabled(if: PeerProgram.flite.isInstalled, "flite is absent: apt-get install flite"),
    arguments: EchoCases.plantedLoss)
  func plantedLoss(_ row: EchoCases.Planted) async throws {
    let outcome = await ListeningCase.attempt {
      try await GatewayUnderTest.run(plantedLossPerThousand: 50) { gateway in
        try await EchoCases.run(gateway, row.app, appOffers: true, weOpen: false, .pcmu)
      }
    }
    PeerResults.append(
      PeerResult(
        peer: row.testDescription, transport: "DTLS", name: "a bridge that drops 5 %", expected: "found at once",
        happened: "\(outcome.verdict.map { "\($0)" } ?? "nothing was found")", isGood: outcome.verdict != nil))
    guard case .failed(let reason) = outcome.verdict else {
      Issue.record("the planted fault was not found: \(outcome)")
      return
    }
    #expect(reason.contains("packets are missing"))
  }
}
