import AppProtocol
import CallModel
import LandlineNode
import Testing

@Suite("Who registers")
struct AppVerifierTests {
  private static let day: Int64 = 86_400_000

  @Test("a sequence number counts once, and only upwards") func sequence() async throws {
    let scene = try IdentityScene()
    #expect(await scene.verdict(try IdentityScene.signed(0)) == .sequenceTooLow(least: 1))
    #expect(await scene.enters(try IdentityScene.signed(5)) != nil)
    for sequence: UInt64 in [5, 4, 0] {
      #expect(await scene.verdict(try IdentityScene.signed(sequence)) == .sequenceTooLow(least: 6))
    }
    #expect(await scene.enters(try IdentityScene.signed(6)) != nil)
    #expect(await scene.enters(try IdentityScene.signed(1, user: "bar")) != nil)
    #expect(await scene.enters(try IdentityScene.signed(.max)) != nil)
    #expect(await scene.verdict(try IdentityScene.signed(.max)) == .refused)
  }

  @Test("a wrong signature uses nothing up, and is told nothing of the sequence") func wrongSignature() async throws {
    let scene = try IdentityScene()
    #expect(await scene.enters(try IdentityScene.signed(7, user: "bar")) != nil)
    #expect(
      await scene.verdict(try IdentityScene.signed(3, user: "bar", secret: "AAAAAAAAAAAAAAAAAAAAAA==")) == .refused)
    #expect(
      await scene.verdict(try IdentityScene.signed(.max, secret: "AAAAAAAAAAAAAAAAAAAAAA==")) == .refused)
    #expect(await scene.enters(try IdentityScene.signed(1)) != nil)
  }

  @Test("of many who bring the same number at once, one gets in") func race() async throws {
    let scene = try IdentityScene()
    let registration = try IdentityScene.signed(9)
    let entered = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<100 { group.addTask { await scene.enters(registration) != nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(entered == 1)
  }

  @Test("an application that may not sign registers by token only") func tokensOnly() async throws {
    let scene = try IdentityScene()
    let application = IdentityScene.tokensOnly
    #expect(await scene.verdict(try IdentityScene.signed(1, application: application)) == .refused)
    let token = try IdentityScene.token("n", application: application)
    #expect(await scene.enters(IdentityScene.registration(.token(token), application: application)) != nil)
  }

  @Test("an application that takes signatures alone registers by no token") func signaturesOnly() async throws {
    let scene = try IdentityScene()
    let application = IdentityScene.signaturesOnly
    let token = try IdentityScene.token("n", application: application)
    #expect(await scene.verdict(IdentityScene.registration(.token(token), application: application)) == .refused)
    #expect(await scene.enters(try IdentityScene.signed(1, application: application)) != nil)
  }

  @Test("a device with a clock far ahead locks no other device out") func aheadOfOthers() async throws {
    let scene = try IdentityScene()
    let ahead: UInt64 = 1_795_309_500_000_000
    #expect(await scene.enters(try IdentityScene.signed(ahead)) != nil)
    guard case .sequenceTooLow(let least) = await scene.verdict(try IdentityScene.signed(1)) else {
      Issue.record("not told the least")
      return
    }
    #expect(least == ahead + 1)
    #expect(await scene.enters(try IdentityScene.signed(least)) != nil)
  }

  @Test("a token counts once, for its user and application, while it lives") func token() async throws {
    let scene = try IdentityScene()
    let token = try IdentityScene.token("n-1")
    let registration = IdentityScene.registration(.token(token))
    #expect(await scene.verdict(IdentityScene.registration(.token(token), user: "bar")) == .refused)
    #expect(
      await scene.verdict(IdentityScene.registration(.token(token), application: IdentityScene.tokensOnly)) == .refused)
    #expect(await scene.enters(registration) != nil)
    #expect(await scene.verdict(registration) == .refused)
    let times: [(Int64, Bool)] = [(-60_001, false), (-60_000, true), (0, true), (659_999, true), (660_000, false)]
    for (index, (offset, enters)) in times.enumerated() {
      let token = try IdentityScene.token("n-at-\(index)")
      let clock = IdentityScene.now.advanced(byMilliseconds: offset)
      #expect((await scene.enters(IdentityScene.registration(.token(token)), at: clock) != nil) == enters, "\(offset)")
    }
    for (life, enters) in [(59, false), (60, true), (3600, true), (3601, false), (-600, false), (Int64.max, false)] {
      let token = try IdentityScene.token("n-life-\(life)", life: life)
      #expect((await scene.enters(IdentityScene.registration(.token(token))) != nil) == enters, "\(life)")
    }
  }

  @Test("a device's credential is good for that user and device until it ends") func credential() async throws {
    let scene = try IdentityScene()
    guard case .some(.some(let credential)) = await scene.enters(try IdentityScene.signed(1)) else {
      Issue.record("no credential")
      return
    }
    let proof = Registration.Proof.credential(id: credential.id, secret: credential.secret.exposed)
    #expect(await scene.enters(IdentityScene.registration(proof)) == .some(nil))
    #expect(await scene.verdict(IdentityScene.registration(proof, user: "bar")) == .refused)
    #expect(await scene.verdict(IdentityScene.registration(proof, device: "tablet")) == .refused)
    #expect(
      await scene.verdict(IdentityScene.registration(proof, application: IdentityScene.tokensOnly)) == .refused)
    let expiry = try #require(credential.expiresAt)
    #expect(expiry == IdentityScene.now.advanced(byMilliseconds: 90 * AppVerifierTests.day))
    #expect(
      await scene.enters(IdentityScene.registration(proof), at: expiry.advanced(byMilliseconds: -1)) != nil)
    #expect(await scene.verdict(IdentityScene.registration(proof), at: expiry) == .refused)
    // A new registration of the device ends the former credential.
    #expect(await scene.enters(try IdentityScene.signed(2)) != nil)
    #expect(await scene.verdict(IdentityScene.registration(proof)) == .refused)
    let user = try UserID("foo")
    await scene.store.forget(application: IdentityScene.key, user: user, device: "phone")
    #expect(await scene.store.credential(credential.id) == nil)
  }

  @Test("the end that an app's server set for a device is not lifted by a later registration") func bound() async throws
  {
    let scene = try IdentityScene()
    let now = IdentityScene.now
    let short = try IdentityScene.token(
      "short", instance: now.advanced(byMilliseconds: 2 * AppVerifierTests.day - 1000))
    #expect(await scene.verdict(IdentityScene.registration(.token(short))) == .refused)
    let end = now.advanced(byMilliseconds: 2 * AppVerifierTests.day)
    let bounded = try IdentityScene.token("bounded", instance: end)
    guard case .some(.some(let first)) = await scene.enters(IdentityScene.registration(.token(bounded))),
      case .some(.some(let second)) = await scene.enters(try IdentityScene.signed(1))
    else {
      Issue.record("no credential")
      return
    }
    #expect(first.expiresAt == end)
    #expect(second.expiresAt == end)
    // Once it is over the device begins anew.
    guard case .some(.some(let third)) = await scene.enters(try IdentityScene.signed(2), at: end) else {
      Issue.record("no credential")
      return
    }
    #expect(third.expiresAt == end.advanced(byMilliseconds: 90 * AppVerifierTests.day))
  }

  @Test("a store that fails is no verdict, whatever the proof") func unavailable() async throws {
    struct Away: IdentityStore {
      struct Down: Error {}
      func useSequence(_ sequence: UInt64, application: String, user: UserID) async throws -> SequenceVerdict {
        throw Down()
      }
      func useNonce(_ nonce: String, application: String, until: Instant, now: Instant) async throws -> Bool {
        throw Down()
      }
      func keep(_ credential: StoredCredential) async throws { throw Down() }
      func credential(_ id: String) async throws -> StoredCredential? { throw Down() }
      func knows(_ user: UserID, application: String) async throws -> Bool { throw Down() }
      func forget(application: String, user: UserID, device: String) async throws { throw Down() }
    }
    let verifier = try IdentityScene.verifier(over: Away())
    for registration in [
      try IdentityScene.signed(1), try IdentityScene.signed(1, secret: "AAAAAAAAAAAAAAAAAAAAAA=="),
      try IdentityScene.signed(1, application: "unknown"), IdentityScene.registration(.token("x")),
      IdentityScene.registration(.credential(id: "c", secret: "s")),
    ] { #expect(await verifier.verify(registration, clock: IdentityScene.now) == .unavailable) }
    #expect(await verifier.knows(try UserID("anna"), application: IdentityScene.key) == nil)
  }

  @Test("an application's environment and account are known by its key") func application() throws {
    let scene = try IdentityScene()
    #expect(scene.verifier.application(IdentityScene.key)?.environment == "sandbox")
    #expect(scene.verifier.application(IdentityScene.key)?.account.text == "acme")
    #expect(scene.verifier.application("unknown") == nil)
  }
}
