import PeerKit
import TestVectors
import Testing

/// Every case is a row of the table that `Deploy/peers` prints.
@Suite("Foreign peers", .together)
struct ForeignPeerTests {
  @Test(
    "SIPp answers", .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(SIPpCase.callingCases))
  func calling(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "SIPp calls", .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(SIPpCase.calledCases))
  func called(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Many calls with SIPp", .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(SIPpCase.crowdCases))
  func crowds(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "SIPp with the scripts of other projects",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)),
    .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(PublicScriptCases.cases))
  func scripts(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("A lossy, forking peer answers", arguments: PeerCase.chosen(DatagramCases.callingCases))
  func callingDatagrams(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("A lossy peer calls", arguments: PeerCase.chosen(DatagramCases.calledCases))
  func calledByDatagrams(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "baresip",
    .enabled(
      if: PeerProgram.baresip.isInstalled && PeerProgram.openssl.isInstalled,
      "baresip or openssl is absent: apt-get install baresip openssl"),
    arguments: PeerCase.chosen(BaresipCases.cases))
  func baresip(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Kamailio",
    .enabled(
      if: PeerProgram.kamailio.isInstalled && PeerProgram.openssl.isInstalled,
      "kamailio or openssl is absent: apt-get install kamailio kamailio-tls-modules openssl"),
    arguments: PeerCase.chosen(KamailioCases.cases))
  func kamailio(_ peerCase: PeerCase) async { await peerCase.perform() }
}
