import AppProtocol
import CallEngine
import CallModel
import RoutingCore
import SDPCore
import SIPCore
import TestVectors
import Testing

/// Calls of trunks that sign callers (RFC 8224), as far as the engine decides them.
@Suite("A trunk's signed callers are verified before anybody is rung")
struct SignedCallerTests {
  private let phone = SessionID(2)
  private static let found = IdentityExamination.Certificate.fetched(Array(SignedCaller.provider.utf8))

  private func bench(
    _ stir: InboundTrunkPolicy.SignedCallers, targets: [InboundNumber.Target]? = nil,
    _ change: (inout InboundNumber) -> Void = { _ in }
  ) throws -> Bench {
    let plain = try Scene.trunk("carrier-1", host: 0xC633_6401)
    var inbound = InboundTrunkPolicy(trustsIdentity: true)
    inbound.stir = stir
    let trunk = CallTrunk(
      trunk: plain.trunk, uri: plain.uri, identity: plain.identity, media: plain.media, inbound: inbound)
    var configuration = try Scene.configuration([trunk])
    configuration.identityAuthorities = try IdentityAuthorities(pems: [Array(SignedCaller.authority.utf8)])
    let bench = try Bench(configuration)
    bench.devices["bob"] = [try Bench.device(phone, "phone")]
    var row = InboundNumber(
      try E164Number(SignedCaller.called), application: "key", account: Scene.account,
      targets: try targets ?? [.init(.user(UserID("bob")))])
    change(&row)
    bench.feed(.numbers(environment: "production", [row]))
    return bench
  }

  private func close(_ bench: Bench, sourceLocation: SourceLocation = #_sourceLocation) {
    bench.finish()
    let end = Invariants(bench, isOver: true)
    #expect(end.problems.isEmpty, "\(end.problems)", sourceLocation: sourceLocation)
  }

  /// Answers what the call asked for last.
  private func answer(_ bench: Bench, _ certificate: IdentityExamination.Certificate = SignedCallerTests.found) throws {
    let wanted = try #require(bench.wantedCertificates.last)
    bench.feed(
      .certificatesFound(
        wanted.handle, Dictionary(uniqueKeysWithValues: wanted.addresses.map { ($0, certificate) })))
  }

  @Test("nothing is asked for where the trunk does not verify, and nothing is told")
  func off() throws {
    let bench = try bench(.off)
    try bench.arrive(identities: [SignedCaller.full])
    #expect(bench.wantedCertificates.isEmpty)
    #expect(bench.invitation(to: phone)?.from.verified == CallerIdentity.Verification.none)
    close(bench)
  }

  @Test(
    "the app hears how the caller is attested",
    arguments: [(SignedCaller.full, "A"), (SignedCaller.partial, "B"), (SignedCaller.gateway, "C")])
  func attested(_ field: String, _ word: String) throws {
    let bench = try bench(.verify)
    try bench.arrive(identities: [field])
    #expect(bench.invitation(to: phone) == nil, "it is not rung before the certificate is there")
    #expect(bench.wantedCertificates.map(\.addresses) == [[try WebAddress(SignedCaller.address)]])
    try answer(bench)
    let from = try #require(bench.invitation(to: phone)?.from)
    #expect(from.verified.rawValue == word && from.why == nil && from.value == SignedCaller.caller)
    close(bench)
  }

  @Test(
    "a caller whose signature fails is told as failed, with the reason, whatever its network says; the call goes on",
    arguments: [SignedCaller.stale, SignedCaller.otherCaller, SignedCaller.otherCalled, SignedCaller.textTime])
  func failed(_ field: String) throws {
    let bench = try bench(.verify)
    try bench.arrive(network: SignedCaller.caller, identities: [field])
    #expect(bench.wantedCertificates.isEmpty, "the field alone decides it")
    let from = try #require(bench.invitation(to: phone)?.from)
    #expect(from.verified == .failed && from.why?.isEmpty == false)
    close(bench)
  }

  @Test("a certificate that is late leaves the caller as it was, and says so")
  func late() throws {
    let bench = try bench(.verify)
    try bench.arrive(network: SignedCaller.caller, identities: [SignedCaller.full])
    try answer(bench, .late)
    let from = try #require(bench.invitation(to: phone)?.from)
    #expect(from.verified == .network && from.why != nil)
    close(bench)
  }

  @Test("without a signature nothing is told of one")
  func absent() throws {
    let bench = try bench(.verify)
    try bench.arrive(network: SignedCaller.caller)
    let from = try #require(bench.invitation(to: phone)?.from)
    #expect(from.verified == .network && from.why == nil)
    close(bench)
  }

  @Test(
    "the signed number is compared with From though the caller is not shown, and with P-Asserted-Identity where it is there"
  )
  func comparedWith() throws {
    let hidden = try bench(.verify)
    try hidden.arrive(isAnonymous: true, identities: [SignedCaller.full])
    try answer(hidden)
    let from = try #require(hidden.invitation(to: phone)?.from)
    #expect(from.kind == .anonymous && from.value.isEmpty && from.verified == .full)
    close(hidden)
    let other = try bench(.verify)
    try other.arrive(network: "+46702222222", identities: [SignedCaller.full])
    #expect(other.invitation(to: phone)?.from.verified == .failed, "the network names somebody else")
    close(other)
  }

  @Test("who diverted the call is told from the signature")
  func diverted() throws {
    let bench = try bench(.verify)
    try bench.arrive(identities: [SignedCaller.otherCalled, SignedCaller.diversion])
    try answer(bench)
    let from = try #require(bench.invitation(to: phone)?.from)
    #expect(from.verified == .full && from.divertedBy == "+46850000999")
    close(bench)
  }

  @Test("a CANCEL while the certificate is fetched: no call comes of it")
  func cancelled() throws {
    let bench = try bench(.verify)
    let handle = try bench.arrive(identities: [SignedCaller.full])
    bench.feed(.payerFound(handle, bench.payer))
    #expect(bench.arrived == nil, "nobody asked who pays")
    bench.feed(.sip(.ended(handle, CallEnd(cause: .remote, wasEstablished: false))))
    try answer(bench)
    #expect(bench.arrived == nil && bench.answers(handle).isEmpty)
    close(bench)
  }

  @Test("an enforcing trunk hears the statuses of RFC 8224, each with a record that says why")
  func enforced() throws {
    func heard(
      _ identities: [String], _ certificate: IdentityExamination.Certificate? = nil
    ) throws -> (answer: String?, phrase: String?) {
      let bench = try bench(.enforce)
      let handle = try bench.arrive(identities: identities)
      if let certificate { try answer(bench, certificate) }
      bench.pass(seconds: 130)
      close(bench)
      let failure = try #require(bench.records.first?.summary.failure)
      #expect(bench.records.count == 1 && failure.code == .callerRefused && failure.phrase?.isEmpty == false)
      return (bench.answers(handle).last, bench.rejection(of: handle)?.phrase)
    }
    #expect(try heard([]) == ("428/21", nil))
    #expect(try heard(["x.y.z;info=<https://cert.example.org/>;ppt=rph"]) == ("428/21", nil))
    #expect(try heard([SignedCaller.full.replacing("info=<https", with: "info=<http")]) == ("436/21", nil))
    #expect(try heard([SignedCaller.full], .unreachable("it answered 404")) == ("436/21", nil))
    #expect(try heard([SignedCaller.full], .late) == ("436/21", nil))
    #expect(try heard([SignedCaller.full], .fetched(Array(SignedCaller.authority.utf8))) == ("437/21", nil))
    #expect(try heard([SignedCaller.forged], Self.found) == ("438/21", nil))
    #expect(try heard([SignedCaller.stale]) == ("403/21", "Stale Date"))
    let good = try bench(.enforce)
    try good.arrive(identities: [SignedCaller.full])
    try answer(good)
    #expect(good.invitation(to: phone)?.from.verified == .full)
    close(good)
  }

  @Test("callers that the number blocks are refused after they were verified")
  func order() throws {
    let bench = try bench(.verify) { $0.callers.blocked = [SignedCaller.caller] }
    let handle = try bench.arrive(identities: [SignedCaller.full])
    #expect(bench.answers(handle).isEmpty)
    try answer(bench)
    #expect(bench.answers(handle) == ["603/21"])
    #expect(bench.records.first?.call.from?.verified == .full)
    close(bench)
  }

  @Test("a forwarded call takes its Identity fields along as they came")
  func forwarded() throws {
    let target = InboundNumber.Target(.phone(try E164Number("+46701234567")))
    let bench = try bench(.off, targets: [target])
    let fields = [SignedCaller.stale, "unknown.to.us;info=<x>;ppt=rcd"]
    try bench.arrive(identities: fields)
    #expect(bench.invites.last?.call.identities == fields)
    bench.pass(seconds: 200)
    close(bench)
  }
}
