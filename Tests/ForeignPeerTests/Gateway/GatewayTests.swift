import Foundation
import PeerKit
import Testing

/// Whole calls with a gateway of ours between programs of others: an app that speaks the protocol by its document alone,
/// and what carriers run. One at a time, since each case has a gateway and several programs. After each of them nothing
/// is left: no call, port, hold or file, and the books are sound.
@Suite(
  "Calls from app to trunk with foreign peers", .serialized, .timeLimit(.minutes(10)), .together, SharedPeersEndTrait())
struct GatewayTests {
  private static let hasApp = PythonPeer.isInstalled && PeerProgram.flite.isInstalled
  private static let appAbsence = "\(PythonPeer.absence), or flite is: apt-get install flite"
  private static let hasSIPp = hasApp && PeerProgram.sipp.isInstalled
  private static let sippAbsence = "\(appAbsence), or sipp is: apt-get install sip-tester"

  @Test(
    "hledger is here to look at the books",
    .enabled(if: GatewayBooks.hasHledger, "hledger is absent: apt-get install hledger"))
  func hledger() {}

  @Test(
    "The gateway answers", .enabled(if: hasApp, "\(appAbsence)"), arguments: PeerCase.chosen(PromptCases.cases))
  func prompts(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "SIPp answers", .enabled(if: hasSIPp, "\(sippAbsence)"), arguments: PeerCase.chosen(AnsweredCases.cases))
  func answered(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("Copies", .enabled(if: hasSIPp, "\(sippAbsence)"), arguments: PeerCase.chosen(CollectorCases.cases))
  func copies(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Refused at the door", .enabled(if: hasApp, "\(appAbsence)"), arguments: PeerCase.chosen(RefusedCases.cases))
  func refused(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Trunks refuse", .enabled(if: hasSIPp, "\(sippAbsence)"), arguments: PeerCase.chosen(FailureCases.cases))
  func failures(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("Mid-call", .enabled(if: hasSIPp, "\(sippAbsence)"), arguments: PeerCase.chosen(MidCallCases.cases))
  func midCall(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "baresip answers",
    .enabled(
      if: hasApp && PeerProgram.baresip.isInstalled && PeerProgram.openssl.isInstalled,
      "\(appAbsence), or baresip or openssl is: apt-get install baresip openssl"),
    arguments: PeerCase.chosen(TrunkCases.baresip))
  func baresip(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Kamailio in between",
    .enabled(
      if: hasSIPp && PeerProgram.kamailio.isInstalled, "\(sippAbsence), or kamailio is: apt-get install kamailio"),
    arguments: PeerCase.chosen(TrunkCases.kamailio + [TrunkCases.wrongPassword]))
  func kamailio(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("The sandbox", .enabled(if: hasSIPp, "\(sippAbsence)"), arguments: PeerCase.chosen(SandboxCases.cases))
  func sandbox(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Desk phones",
    .enabled(
      if: hasSIPp && PeerProgram.baresip.isInstalled, "\(sippAbsence), or baresip is: apt-get install baresip"),
    arguments: PeerCase.chosen(DeskPhoneCases.sipp + DeskPhoneCases.baresip))
  func deskPhones(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Telephones transfer",
    .enabled(
      if: hasApp && PeerProgram.baresip.isInstalled && PeerProgram.linphone.isInstalled
        && PeerProgram.kamailio.isInstalled,
      "\(appAbsence), or a peer is: apt-get install baresip linphone-cli kamailio"),
    arguments: PeerCase.chosen([TransferCases.baresip] + TransferCases.linphone))
  func transfers(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "A desk phone that knows SHA-256",
    .enabled(
      if: hasApp && PeerProgram.linphone.isInstalled,
      "\(appAbsence), or linphone is: apt-get install linphone-cli"),
    arguments: [DeskPhoneCases.linphone])
  func linphone(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Numbers", .enabled(if: hasApp && hasSIPp, "\(appAbsence) \(sippAbsence)"),
    arguments: PeerCase.chosen(ArrivalCases.cases + ArrivalCases.refusals))
  func numbers(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Signed callers",
    .enabled(
      if: hasApp && hasSIPp && PeerProgram.secsipidx.isInstalled && PeerProgram.openssl.isInstalled,
      "\(appAbsence) \(sippAbsence), or secsipidx or openssl is: apt-get install secsipidx openssl"),
    arguments: PeerCase.chosen(SignedCallerCases.cases))
  func signedCallers(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("Users", .enabled(if: hasApp, "\(appAbsence)"), arguments: PeerCase.chosen(UserCases.cases))
  func users(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test("Conferences", .enabled(if: hasApp, "\(appAbsence)"), arguments: PeerCase.chosen(ConferenceCases.cases))
  func conferences(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Recordings",
    .enabled(
      if: hasSIPp && PeerProgram.ffmpeg.isInstalled && PeerProgram.ffprobe.isInstalled,
      "\(sippAbsence), or ffmpeg is: apt-get install ffmpeg"),
    arguments: PeerCase.chosen(RecordingCases.cases))
  func recordings(_ peerCase: PeerCase) async { await peerCase.perform() }

  @Test(
    "Calls from outside",
    .enabled(if: PeerProgram.sipp.isInstalled, "sipp is absent: apt-get install sip-tester"),
    arguments: PeerCase.chosen(StrayCases.cases))
  func strays(_ peerCase: PeerCase) async { await peerCase.perform() }
}
