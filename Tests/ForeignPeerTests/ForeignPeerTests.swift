import PeerKit
import Testing

/// Every case is a row of the table that `Deploy/peers` prints.
@Suite("Foreign peers")
struct ForeignPeerTests {
  @Test(
    "SIPp answers", .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(SIPpCase.callingCases))
  func calling(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "SIPp calls", .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(SIPpCase.calledCases))
  func called(_ peerCase: PeerCase) async { await peerCase.perform() }
}
