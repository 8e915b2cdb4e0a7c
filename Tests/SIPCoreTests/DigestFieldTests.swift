import CallModel
import SIPCore
import Testing

/// Reading and printing the fields, at the limits and past them, and mutated.
struct DigestFieldTests {
  /// SHA-512/256 is not a shortened SHA-512; the rest are the digests of "abc" of FIPS 180-4 and RFC 1321.
  @Test(
    arguments: [
      (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha512t256, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
    ])
  func digests(algorithm: DigestAlgorithm, expected: String) {
    #expect(algorithm.hash(Array("abc".utf8)) == expected)
  }

  @Test func challengeReadsAndPrints() throws {
    let text =
      "digest\tQOP = \"auth, auth-int\" ,opaque=\"\",,\r\n nonce=\"n=\\\\\\\"1\",x-a=b, Realm=\"a, b\", STALE=True,"
      + "domain=\"sip:a sip:b\", algorithm=\"sha-256\", y=\"\""
    let challenge = try DigestChallenge(parsing: text)
    #expect(challenge.realm == "a, b")
    #expect(challenge.nonce == "n=\\\"1")
    #expect(challenge.opaque == "")
    #expect(challenge.isStale)
    #expect(challenge.algorithm == .sha256)
    #expect(challenge.qualities == [.authentication, .authenticationWithIntegrity])
    #expect(challenge.others.map(\.name) == ["x-a", "y"])
    let printed =
      "Digest realm=\"a, b\", domain=\"sip:a sip:b\", nonce=\"n=\\\\\\\"1\", opaque=\"\", stale=true, "
      + "algorithm=sha-256, qop=\"auth,auth-int\", x-a=b, y=\"\""
    #expect(challenge.description == printed)
    #expect(try DigestChallenge(parsing: printed) == challenge)
  }

  @Test func credentialsReadAndPrint() throws {
    let text =
      "Digest username=\"a\", realm=\"b\", nonce=\"c\", uri=\"sip:d\", response=\"0F\", algorithm=MD5, cnonce=\"e\", "
      + "opaque=\"f\", qop=auth, nc=000000fF, userhash=false"
    let credentials = try DigestCredentials(parsing: text)
    #expect(credentials.nonceCount == 255)
    #expect(credentials.others.map(\.name) == ["userhash"])
    #expect(credentials.description == text.replacing("fF", with: "ff"))
    let lenient = try DigestCredentials(
      parsing:
        "Digest username=a, realm=\"b\", nonce=c, uri=\"sip:d\", response=0f, qop=\"auth\", nc=\"00000001\", cnonce=x")
    #expect(lenient.username == "a" && lenient.nonceCount == 1 && lenient.quality == .authentication)
  }

  @Test(
    arguments: [
      ("Basic realm=\"a\"", "scheme", 0), ("", "scheme", 0), ("Digestrealm=\"a\"", "scheme", 0),
      ("Digest,realm=\"a\"", "scheme", 6), ("Digest realm=\"a\"", "missing", nil),
      ("Digest nonce=\"a\"", "missing", nil),
      ("Digest realm=\"a\", nonce=\"b\", REALM=\"a\"", "duplicate", 29),
      ("Digest realm=\"a\" nonce=\"b\"", "separator", 17),
      ("Digest =\"a\"", "name", 7), ("Digest realm", "equals", 12), ("Digest realm=", "value", 13),
      ("Digest realm=,", "value", 13), ("Digest realm=\"a", "quote", 15), ("Digest realm=\"a\\", "escape", 16),
      ("Digest realm=\"a\\é\"", "escape", 16), ("Digest realm=\"a\r\nX: y\"", "control", 15),
      ("Digest realm=\"a\\\n\"", "control", 16), ("Digest realm=\"\0\"", "control", 14),
      ("Digest realm=\"a\u{7F}\"", "control", 15), ("Digest realm=a@b", "separator", 14),
      ("Digest realm=\"a\",\r\nnonce=\"b\"", "name", 17),
      ("Digest realm=\"a\", nonce=\"b\", algorithm=\"MD5 x\"", "algorithm", nil),
      ("Digest realm=\"a\", nonce=\"b\", Digest realm=\"c\"", "equals", 36),
    ] as [(String, String, Int?)])
  func refusedChallenges(text: String, rule: String, offset: Int?) {
    let refusal = #expect(throws: InvalidValue.self) { _ = try DigestChallenge(parsing: text) }
    #expect(refusal?.rule == "digest.\(rule)")
    #expect(refusal?.offset == offset)
  }

  @Test(
    arguments: [
      ("response=\"0g\"", "response"), ("response=\"\"", "response"),
      ("response=\"\(String(repeating: "0", count: 129))\"", "response"), ("x=y", "missing"),
      ("response=\"0\", nc=1", "nc"), ("response=\"0\", nc=0000000g", "nc"), ("response=\"0\", nc=000000001", "nc"),
      ("response=\"0\", qop=other", "qop"), ("response=\"0\", qop=auth, nc=00000001", "missing"),
      ("response=\"0\", qop=auth, cnonce=\"a\"", "missing"),
    ])
  func refusedCredentials(end: String, rule: String) {
    let refusal = #expect(throws: InvalidValue.self) {
      _ = try DigestCredentials(parsing: "Digest username=\"a\", realm=\"b\", nonce=\"c\", uri=\"sip:d\", \(end)")
    }
    #expect(refusal?.rule == "digest.\(rule)")
  }

  @Test func bytesOutsideUTF8() {
    let refusal = #expect(throws: InvalidValue.self) {
      _ = try DigestChallenge(parsing: Array("Digest realm=\"caf".utf8) + [0xE9] + Array("\", nonce=\"a\"".utf8))
    }
    #expect(refusal?.rule == "digest.utf8")
  }

  /// At each limit, and one past it.
  @Test func limits() throws {
    let start = "Digest realm=\"a\", nonce=\"b\""
    func rule(_ text: String) -> String? {
      do {
        _ = try DigestChallenge(parsing: text)
        return nil
      } catch {
        return error.rule
      }
    }
    func many(_ count: Int) -> String { start + (2..<count).map { ", p\($0)=1" }.joined() }
    #expect(rule(many(32)) == nil)
    #expect(rule(many(33)) == "digest.parameters")
    func padded(_ count: Int) -> String { start + String(repeating: " ", count: count - start.utf8.count) }
    #expect(rule(padded(4_096)) == nil)
    #expect(rule(padded(4_097)) == "digest.long")
    func value(_ count: Int) -> String { start + ", x=\"\(String(repeating: "v", count: count - 2))\"" }
    #expect(rule(value(1_024)) == nil)
    #expect(rule(value(1_025)) == "digest.parameterLong")
    func name(_ count: Int) -> String { start + ", \(String(repeating: "n", count: count))=1" }
    #expect(rule(name(1_024)) == nil)
    #expect(rule(name(1_025)) == "digest.parameterLong")
    #expect(rule(start + String(repeating: ",", count: 4_000)) == "digest.parameters")
  }

  @Test(arguments: [("nextnonce=\"\"", "nextnonce"), ("nc=1", "nc"), ("nextnonce", "equals")])
  func refusedInformation(text: String, rule: String) {
    let refusal = #expect(throws: InvalidValue.self) { _ = try DigestInformation(parsing: text) }
    #expect(refusal?.rule == "digest.\(rule)")
  }

  /// SplitMix64.
  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }

  /// What reads prints and reads back equal; nothing mutated is ever accepted by a server.
  @Test func twentyThousandMutations() throws {
    let seed: UInt64 = 0xD16E_5700
    var random = Generator(state: seed)
    var server = try DigestServerTests.server(DigestAlgorithm.allCases, QualityOfProtection.allCases, tracked: 4)
    var client = DigestServerTests.client()
    let answer = try DigestServerTests.challenged(&client, by: &server)
    let right = try #require(answer.fields.first).value
    let challenge = try #require(DigestServerTests.challenges(&server).first)
    let corpus = [right, challenge.description].map {
      Array($0.utf8)
    }
    let words = [
      "\"", "\\", ",", "=", " ", "\r\n ", "\0", "nc=", "ffffffff", "00000000", "qop=auth-int", "realm=\"a\"",
      "stale=true",
      "algorithm=MD5-sess", "nextnonce=\"n\"", "\u{301}", "sip:", "Digest ",
    ].map { Array($0.utf8) }
    var read = 0
    var answered = 0
    var accepted = 0
    var wrong: [Int] = []
    for number in 0..<20_000 {
      var bytes = corpus[number % 2]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, at + Int.random(in: 0...20, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0: if at < bytes.count { bytes[at] = UInt8.random(in: 0...255, using: &random) }
        case 1: bytes.removeSubrange(at..<end)
        case 2: bytes.insert(contentsOf: words[Int.random(in: 0..<words.count, using: &random)], at: at)
        case 3: bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
        default: if at < bytes.count { bytes[at] ^= 0x20 }
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if let challenge = try? DigestChallenge(parsing: bytes) {
        read += 1
        if (try? DigestChallenge(parsing: challenge.description)) != challenge { wrong.append(number) }
      }
      if let credentials = try? DigestCredentials(parsing: bytes) {
        read += 1
        if (try? DigestCredentials(parsing: credentials.description)) != credentials { wrong.append(number) }
      }
      _ = try? DigestInformation(parsing: text)
      var answering = client
      if case .success = DigestClientTests.answer(&answering, [DigestField(.proxy, text)]) { answered += 1 }
      var checking = server
      let verdict = checking.check(
        [text], of: DigestServerTests.register, now: DigestServerTests.start, password: DigestServerTests.password)
      if case .accepted = verdict {
        accepted += 1
        // Only a mutation outside of what is signed may get through.
        guard let credentials = try? DigestCredentials(parsing: bytes),
          let original = answer.entries.first?.credentials,
          credentials.response.lowercased() == original.response, credentials.nonce.lowercased() == original.nonce,
          credentials.username == original.username, credentials.nonceCount == original.nonceCount
        else {
          wrong.append(number)
          continue
        }
      }
    }
    print("digest mutations: \(read) read, \(answered) answered, \(accepted) accepted")
    #expect(wrong.isEmpty, "seed \(seed): \(wrong.prefix(5))")
    #expect(read > 2_000)
    #expect(answered > 500)
  }
}
