import AppProtocol
import CallModel
import Testing

@Suite("Forged proofs")
struct ForgeryTests {
  private struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  private static let foreign = "AAAAAAAAAAAAAAAAAAAAAA=="

  private static func turned(_ text: String, _ generator: inout Generator) -> String {
    var bytes = Array(text.utf8)
    let index = Int.random(in: 0..<bytes.count, using: &generator)
    // Stays ASCII, so that the text is another one for sure.
    bytes[index] ^= 1 << UInt8.random(in: 0..<7, using: &generator)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func cut(_ text: String, _ generator: inout Generator) -> String {
    String(text.prefix(Int.random(in: 0..<text.count, using: &generator)))
  }

  /// The header of a token replaced, its signature kept.
  private static func header(_ token: String, _ base64: String) -> String {
    ([base64] + token.split(separator: ".", omittingEmptySubsequences: false).dropFirst().map(String.init))
      .joined(separator: ".")
  }

  @Test("a hundred thousand of them let nobody in, and use nothing up") func forgeries() async throws {
    let scene = try IdentityScene()
    var generator = Generator(state: 0x9E37_79B9_7F4A_7C15)
    let used = try IdentityScene.signed(100)
    guard case .some(.some(let credential)) = await scene.enters(used) else {
      Issue.record("no credential")
      return
    }
    let goodSignature = try IdentityScene.signed(200)
    guard case .signature(let signature, _) = goodSignature.proof else { return }
    let goodToken = try IdentityScene.token("good")
    let usedToken = try IdentityScene.token("used")
    #expect(await scene.enters(IdentityScene.registration(.token(usedToken), device: "tablet")) != nil)
    let expired = try IdentityScene.token(
      "expired", issuedAt: IdentityScene.now.advanced(byMilliseconds: -3_600_000))
    let early = try IdentityScene.token("early", issuedAt: IdentityScene.now.advanced(byMilliseconds: 3_600_000))
    // {"alg":"none"…}, {"alg":"HS512"…} and one with a member twice, each with the day's key id.
    let none = "eyJhbGciOiJub25lIiwia2lkIjoiaGtkZnYxLTIwMjYxMTIyIn0"
    let other = "eyJhbGciOiJIUzUxMiIsImtpZCI6ImhrZGZ2MS0yMDI2MTEyMiJ9"
    let twice = "eyJhbGciOiJIUzI1NiIsImFsZyI6IkhTMjU2Iiwia2lkIjoiaGtkZnYxLTIwMjYxMTIyIn0"
    // Whatever had another verdict than the expected one, of which none lets anybody in.
    var others: [Registration] = []
    for round in 0..<100_000 {
      let registration: Registration
      // A right signature that is used up or late lets nobody in either; it is told which sequence would do.
      var expected = RegistrationVerdict.refused
      switch round % 16 {
      case 0:
        registration = try IdentityScene.signed(
          UInt64.random(in: 101...UInt64.max, using: &generator), secret: Self.foreign)
      case 1:
        registration = used
        expected = .sequenceTooLow(least: 101)
      case 2:
        registration = try IdentityScene.signed(UInt64.random(in: 0...100, using: &generator))
        expected = .sequenceTooLow(least: 101)
      case 3: registration = IdentityScene.registration(.signature(Self.turned(signature, &generator), sequence: 200))
      case 4: registration = IdentityScene.registration(.signature(Self.cut(signature, &generator), sequence: 200))
      case 5:
        registration = IdentityScene.registration(
          .signature(signature, sequence: UInt64.random(in: 201...UInt64.max, using: &generator)))
      case 6: registration = IdentityScene.registration(.signature(signature, sequence: 200), user: "foo\(round)")
      case 7: registration = try IdentityScene.signed(UInt64(round), application: "unknown")
      case 8: registration = IdentityScene.registration(.token(Self.turned(goodToken, &generator)))
      case 9: registration = IdentityScene.registration(.token(Self.cut(goodToken, &generator)))
      case 10: registration = IdentityScene.registration(.token([usedToken, expired, early][round / 16 % 3]))
      case 11:
        registration = IdentityScene.registration(.token(try IdentityScene.token("n\(round)", secret: Self.foreign)))
      case 12:
        let token = Self.header(goodToken, [none, other, twice][round / 16 % 3])
        registration = IdentityScene.registration(
          .token(round % 32 < 16 ? token : String(token.prefix { $0 != "." }) + "."))
      case 13:
        registration = IdentityScene.registration(
          .credential(id: credential.id, secret: Self.turned(credential.secret.exposed, &generator)))
      case 14:
        registration = IdentityScene.registration(.credential(id: "c-\(round)", secret: credential.secret.exposed))
      default:
        registration = IdentityScene.registration(
          .credential(id: credential.id, secret: credential.secret.exposed), user: round % 32 < 16 ? "bar" : "",
          device: "phone\(round % 2)")
      }
      if await scene.verdict(registration) != expected { others.append(registration) }
    }
    #expect(others.isEmpty, "\(others.prefix(3))")
    // What was forged after is still good.
    #expect(await scene.enters(goodSignature) != nil)
    #expect(await scene.enters(IdentityScene.registration(.token(goodToken))) != nil)
  }

  @Test("an unknown application, a wrong signature and an unknown user take the same time") func time() async throws {
    let scene = try IdentityScene()
    #expect(await scene.enters(try IdentityScene.signed(100)) != nil)
    let known = try IdentityScene.signed(200, secret: Self.foreign)
    let user = try IdentityScene.signed(200, user: "oof", secret: Self.foreign)
    let application = try IdentityScene.signed(
      200, application: "296087a1-e815-4bc4-8984-60d8d8a43f1d", secret: Self.foreign)
    let kinds = [known, user, application]
    let clock = ContinuousClock()
    // A machine that does other things besides may spoil a round; a leak would spoil them all.
    var worst = Double.infinity
    var best = [Double](repeating: .infinity, count: kinds.count)
    for _ in 0..<100 where worst >= 0.05 {
      var samples = [[Duration]](repeating: [], count: kinds.count)
      for round in 0..<3000 {
        for offset in kinds.indices {
          // Each kind comes after each other kind equally often.
          let index = (round + offset) % kinds.count
          let start = clock.now
          _ = await scene.verdict(kinds[index])
          samples[index].append(clock.now - start)
        }
      }
      // The fastest fiftieth of each: what others take of the machine is in the rest.
      let times = samples.map { values in values.sorted()[values.count / 50] / .nanoseconds(1) }
      best = zip(best, times).map { min($0, $1) }
      let least = best.min() ?? 0
      worst = ((best.max() ?? 0) - least) / max(least, 1)
    }
    #expect(worst < 0.05, "the slowest kind is \(worst * 100) % above the fastest")
  }
}
