import CallModel
import SDPCore
import TestVectors
import Testing

/// SDES lines, each with its verdict, and what an answer does with them.
struct CryptoTests {
  @Test(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func everyLineOfTheTable() throws {
    var counts: [String: Int] = [:]
    let rows = try TestVectors.table("sdp/sdes.tsv")
    for row in rows {
      let line = row["crypto_attribute_value"] ?? ""
      let verdict = row["verdict"] ?? ""
      let attribute = CryptoAttribute(line)
      let isUsable =
        switch attribute.verdict {
        case .usable: true
        case .skipped: false
        }
      counts[isUsable ? "used" : "skipped", default: 0] += 1
      if verdict == "either" || verdict == "use or skip" { continue }
      #expect(isUsable == verdict.hasPrefix("use"), "\(line): \(attribute.verdict), expected \(verdict)")
    }
    #expect(rows.count >= 23)
    print("sdes.tsv:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
  }

  @Test(
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)),
    arguments: [
      ("aes256-32", "keyLength"), ("duplicate-tags", "keyLength tagRepeated"), ("invalid-base64", "keyEncoding"),
      ("large-tag", "keyLength"), ("leading-zero-tag", "keyLength"), ("missing-components", "incomplete"),
      ("missing-method", "keyMethod"), ("session-params", "keyLength"), ("short-key", "keyLength"),
    ])
  func everySeedIsRefusedForItsReason(name: String, reasons: String) throws {
    let offer = try SessionDescription(parsing: SDPFixtures.bytes("sdes/pj-seed-crypto-\(name).sdp"))
    let skipped = try #require(offer.sections.first).crypto.map { attribute in
      if case .skipped(let reason) = attribute.verdict { "\(reason)" } else { "used" }
    }
    #expect(skipped.joined(separator: " ") == reasons)
    var end = SDPFixtures.end(SDPFixtures.open)
    let error = #expect(throws: NegotiationRefusal.self) { try end.answer(offer, from: SDPFixtures.local) }
    #expect(error?.sipStatus == 488)
    #expect(end.plan == nil)
  }

  static let key = "cJOJ7kxQjhFBp2fP6AYjs3vKw7CeBdWZCj0isbJv"

  @Test(
    arguments: [
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)", nil),
      ("000000001 aes_cm_128_hmac_sha1_80 INLINE:\(key) WSH=64 -X KDR=0", nil),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|1:4", nil),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|1|255:1", nil),
      ("", CryptoAttribute.SkipReason.tag),
      ("1234567890 AES_CM_128_HMAC_SHA1_80 inline:\(key)", .tag),
      ("-1 AES_CM_128_HMAC_SHA1_80 inline:\(key)", .tag),
      ("1 AES_CM_128_HMAC_SHA1_80", .incomplete),
      ("1 NULL_HMAC_SHA1_80 inline:\(key)", .suite),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key);inline:\(key)", .severalKeys),
      ("1 AES_CM_128_HMAC_SHA1_80 inline", .keyMethod),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)=", .keyEncoding),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:", .keyLength),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)AAAA", .keyLength),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|0", .lifetime),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|2^", .lifetime),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|281474976710657", .lifetime),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|256:1", .identifier),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|1:1|2:1", .identifier),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key)|2^9|2^9", .keyParameter),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key) UNENCRYPTED_SRTP", .sessionParameter),
      ("1 AES_CM_128_HMAC_SHA1_80 inline:\(key) KDR=1", .sessionParameter),
    ] as [(String, CryptoAttribute.SkipReason?)])
  func linesAtTheEdge(line: String, reason: CryptoAttribute.SkipReason?) {
    switch CryptoAttribute(line).verdict {
    case .usable: #expect(reason == nil)
    case .skipped(let found): #expect(found == reason)
    }
  }

  @Test func identifierAndLifetimeAreReadInFull() throws {
    guard
      case .usable(let tag, let suite, let key) =
        CryptoAttribute("7 AES_CM_128_HMAC_SHA1_32 inline:\(CryptoTests.key)|2^20|258:32").verdict
    else {
      Issue.record("not usable")
      return
    }
    #expect(tag == 7)
    #expect(suite == .aesCM128HMAC32)
    #expect(key.lifetime == 1 << 20)
    #expect(key.identifier?.bytes == [UInt8](repeating: 0, count: 30) + [1, 2])
    #expect(key.keyAndSalt.exposed.count == 30)
    #expect(key.keyAndSalt.exposed.prefix(3) == [0x70, 0x93, 0x89])
    #expect(!"\(key)".contains("112"), "a key must not print")
  }

  @Test func bothSpellingsOfASuite() {
    #expect(CryptoSuite(name: "AES_CM_256_HMAC_SHA1_80") == .aesCM256HMAC80)
    #expect(CryptoSuite(name: "AES_256_CM_HMAC_SHA1_80") == .aesCM256HMAC80)
    #expect(CryptoSuite(name: "F8_128_HMAC_SHA1_80") == nil)
    #expect(CryptoSuite.allCases.map { $0.keyLength + $0.saltLength } == [30, 30, 38, 38, 46, 46, 28, 44])
  }

  /// `sdes-answers.tsv`, "two suites": one line, the tag of the chosen one, a key of our own.
  @Test func answerToTwoSuites() throws {
    let offer = try SDPFixtures.description(
      "m=audio 4000 RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(CryptoTests.key)",
      "a=crypto:2 AES_CM_128_HMAC_SHA1_32 inline:\(CryptoTests.key)")
    var end = SDPFixtures.end(.trunk(.sdes))
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(answer.media.first?.profile == "RTP/SAVP")
    let lines = try #require(SDPFixtures.audio(answer)).crypto
    #expect(lines.count == 1)
    guard case .usable(1, .aesCM128HMAC80, let own)? = lines.first?.verdict, case .sdes(let sdes) = plan.protection
    else {
      Issue.record("no SDES")
      return
    }
    #expect(own == sdes.send)
    #expect(sdes.receive.keyAndSalt.exposed.first == 0x70)
    #expect(own.keyAndSalt.exposed != sdes.receive.keyAndSalt.exposed)

    // A policy without the first suite takes the second line, and its tag.
    var policy = MediaPolicy.trunk(.sdes)
    policy.suites = [.aesCM128HMAC32]
    var other = SDPFixtures.end(policy)
    guard case .sdes(let second) = try other.answer(offer, from: SDPFixtures.local).plan.protection else {
      Issue.record("no SDES")
      return
    }
    #expect(second.tag == 2)
    #expect(second.send != sdes.send, "each suite has a key of its own")
  }

  @Test func theOfferedSpellingOfASuiteIsAnswered() throws {
    let key = "8AbZePWwsKhLGX3GlXA+yHYPQ3cgraer/9DkFJYCOPZZy3o9wC0NIbIFYZfyHw=="
    let offer = try SDPFixtures.description(
      "m=audio 4000 RTP/SAVP 0", "a=crypto:3 AES_CM_256_HMAC_SHA1_80 inline:\(key)")
    var end = SDPFixtures.end(.trunk(.sdes))
    let answer = try end.answer(offer, from: SDPFixtures.local).description
    #expect(SDPFixtures.audio(answer)?.crypto.first?.suiteName == "AES_CM_256_HMAC_SHA1_80")
    #expect(answer.text.contains("a=crypto:3 AES_CM_256_HMAC_SHA1_80 inline:"))
  }

  /// "all lines unusable" and its kin: never plain RTP.
  @Test(
    arguments: [
      ("RTP/SAVP", ["a=crypto:1 F8_128_HMAC_SHA1_80 inline:\(key)"], [.none, .sdes]),
      ("RTP/SAVP", [], [.none, .sdes]),
      ("RTP/SAVP", ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)"], .none),
      ("RTP/SAVPF", ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA"], [.none, .sdes, .dtls]),
      ("UDP/TLS/RTP/SAVPF", ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)"], [.none, .sdes, .dtls]),
      ("UDP/TLS/RTP/SAVPF", ["a=fingerprint:sha-256 \(SDPFixtures.fingerprint)"], [.none, .sdes]),
      ("RTP/AVP", [], .sdes),
      ("RTP/AVP", ["a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:AAAA"], .sdes),
    ] as [(String, [String], MediaPolicy.Protection)])
  func neverInTheClear(profile: String, lines: [String], protection: MediaPolicy.Protection) throws {
    let offer = try SessionDescription(parsing: SDPFixtures.text(["m=audio 4000 \(profile) 0"] + lines))
    var end = SDPFixtures.end(.trunk(protection))
    let error = #expect(throws: NegotiationRefusal.self) { try end.answer(offer, from: SDPFixtures.local) }
    #expect(error?.sipStatus == 488)
    #expect(error?.warning != nil)
  }

  /// "SDES and DTLS together": exactly one of the two.
  @Test func oneOfSDESAndDTLS() throws {
    let offer = try SDPFixtures.description(
      "m=audio 4000 RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(CryptoTests.key)", "a=setup:actpass",
      "a=fingerprint:sha-256 \(SDPFixtures.fingerprint)")
    for (protection, isDTLS) in [(MediaPolicy.Protection([.sdes, .dtls]), true), (.sdes, false)] {
      var end = SDPFixtures.end(.trunk(protection))
      let section = try #require(SDPFixtures.audio(end.answer(offer, from: SDPFixtures.local).description))
      #expect(section.crypto.isEmpty == isDTLS)
      #expect(section.fingerprints.isEmpty == !isDTLS)
      #expect(section.setup == (isDTLS ? .passive : nil))
    }
  }

  /// Keys under the plain profile are taken (RFC 8643); without them, or if all are broken, it stays plain.
  @Test func keysUnderThePlainProfile() throws {
    let offer = try SDPFixtures.description(
      "m=audio 4000 RTP/AVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(CryptoTests.key)")
    var end = SDPFixtures.end(.trunk([.none, .sdes]))
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    #expect(answer.media.first?.profile == "RTP/AVP")
    guard case .sdes = plan.protection else {
      Issue.record("\(plan.protection)")
      return
    }
    var plain = SDPFixtures.end(.trunk(.none))
    #expect(try plain.answer(offer, from: SDPFixtures.local).plan.protection == .none)
  }

  /// "re-INVITE same key" and "re-INVITE new key".
  @Test func keysOfALaterOffer() throws {
    func offer(_ key: String) throws -> SessionDescription {
      try SDPFixtures.description("m=audio 4000 RTP/SAVP 0", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(key)")
    }
    var end = SDPFixtures.end(.trunk(.sdes))
    let first = try end.answer(offer(CryptoTests.key), from: SDPFixtures.local).plan
    let same = try end.answer(offer(CryptoTests.key), from: SDPFixtures.local).plan
    #expect(same.changes(since: first) == [])
    let new = try end.answer(offer("NzB4d1BINUAvLEw6UzF3WSJ+PSdFcGdUJShpX1Zj"), from: SDPFixtures.local).plan
    #expect(new.changes(since: same) == .receiveKey)
  }

  @Test func moreLinesThanAreLookedAt() throws {
    let lines = (1...80).map { "a=crypto:\($0) F8_128_HMAC_SHA1_80 inline:\(CryptoTests.key)" }
    let offer = try SessionDescription(parsing: SDPFixtures.text(["m=audio 4000 RTP/SAVP 0"] + lines))
    let crypto = try #require(offer.sections.first).crypto
    #expect(crypto.count == CryptoAttribute.maximumLines + 1)
    #expect(crypto.last?.verdict == .skipped(.tooMany))
  }

  @Test func missingKeyMaterialIsOurFault() throws {
    var local = SDPFixtures.local
    local.keyMaterial = Redacted([1, 2, 3])
    var end = SDPFixtures.end(.trunk(.sdes))
    let error = #expect(throws: NegotiationRefusal.self) { try end.offer(from: local) }
    #expect(error == .localMedia("key material"))
    #expect(error?.sipStatus == 500)
    #expect(!end.isOfferPending)
  }
}
