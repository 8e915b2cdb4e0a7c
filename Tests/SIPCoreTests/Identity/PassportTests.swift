import CallModel
import LandlineDigest
import SIPCore
import TestVectors
import Testing

/// What is told of a caller by the Identity fields of its call.
@Suite("A signed caller is verified where its token, its certificate and its call agree")
struct PassportTests {
  private static let clock = Instant(seconds: SignedCaller.unixSeconds)

  private static func numbers(
    caller: String? = SignedCaller.caller, called: [String] = [SignedCaller.called]
  ) throws -> IdentityExamination.Numbers {
    IdentityExamination.Numbers(
      caller: try caller.map { try E164Number($0) }, called: try called.map { try E164Number($0) })
  }

  private static func verdict(
    _ fields: [String], _ fetched: IdentityExamination.Certificate = .fetched(Array(SignedCaller.provider.utf8)),
    caller: String? = SignedCaller.caller, called: [String] = [SignedCaller.called],
    authorities: IdentityAuthorities? = nil, after seconds: Int64 = 0
  ) throws -> IdentityVerdict {
    let clock = Instant(seconds: SignedCaller.unixSeconds + seconds)
    let examination = IdentityExamination(fields, for: try numbers(caller: caller, called: called), at: clock)
    let answers = Dictionary(uniqueKeysWithValues: examination.wanted.map { ($0, fetched) })
    let authorities = try authorities ?? IdentityAuthorities(pems: [Array(SignedCaller.authority.utf8)])
    return examination.verdict(answers, authorities, at: clock)
  }

  private static func reason(_ verdict: IdentityVerdict) -> IdentityFailure.Reason? {
    if case .failed(let failure) = verdict { return failure.reason }
    return nil
  }

  @Test(
    "the attestation is the one that was signed",
    arguments: [
      (SignedCaller.full, VerifiedIdentity.Attestation.full), (SignedCaller.partial, .partial),
      (SignedCaller.gateway, .gateway),
    ])
  func attested(_ field: String, _ attestation: VerifiedIdentity.Attestation) throws {
    #expect(try Self.verdict([field]) == .verified(VerifiedIdentity(attestation)))
  }

  @Test(
    "a token fails by itself, and nothing is fetched for it",
    arguments: [
      (SignedCaller.stale, IdentityFailure.Reason.stale), (SignedCaller.ahead, .stale),
      (SignedCaller.textTime, .claims),
      (SignedCaller.otherCaller, .caller), (SignedCaller.otherCalled, .called), (SignedCaller.plain, .address),
      (SignedCaller.critical, .kind), (SignedCaller.diversion, .claims),
      (SignedCaller.full.replacing("ppt=shaken", with: "ppt=div"), .kind),
      (SignedCaller.full.replacing(";alg=ES256", with: ";alg=RS256"), .algorithm),
      (SignedCaller.full.replacing("info=<https", with: "info=<http"), .info),
      (SignedCaller.full.replacing(";ppt=shaken", with: ";ppt=shaken;ppt=shaken"), .malformed),
      (SignedCaller.full.replacing(";alg", with: ".AA;alg").replacing(";info", with: ".x;info"), .malformed),
      (String(repeating: "x", count: IdentityExamination.maximumFieldBytes + 1), .tooMuch),
    ])
  func failsAlone(_ field: String, _ reason: IdentityFailure.Reason) throws {
    let examination = IdentityExamination([field], for: try Self.numbers(), at: Self.clock)
    #expect(examination.wanted.isEmpty)
    #expect(Self.reason(try Self.verdict([field])) == reason)
  }

  @Test("more fields than are read fail the call, whatever they say")
  func tooManyFields() throws {
    let fields = Array(repeating: SignedCaller.full, count: IdentityExamination.maximumFields)
    #expect(try Self.verdict(fields) == .verified(VerifiedIdentity(.full)))
    #expect(Self.reason(try Self.verdict(fields + [SignedCaller.full])) == .tooMuch)
  }

  @Test("fresh means 60 seconds, both ways")
  func fresh() throws {
    #expect(try Self.verdict([SignedCaller.full], after: 60) == .verified(VerifiedIdentity(.full)))
    #expect(Self.reason(try Self.verdict([SignedCaller.full], after: 61)) == .stale)
    #expect(try Self.verdict([SignedCaller.full], after: -60) == .verified(VerifiedIdentity(.full)))
    #expect(Self.reason(try Self.verdict([SignedCaller.full], after: -61)) == .stale)
  }

  @Test("a certificate that is not there, not trusted, of another curve or of an authority verifies nothing")
  func certificates() throws {
    let full = [SignedCaller.full]
    func reason(_ certificate: IdentityExamination.Certificate) throws -> IdentityFailure.Reason? {
      Self.reason(try Self.verdict(full, certificate))
    }
    #expect(try reason(.unreachable("404")) == .unreachable)
    #expect(try Self.verdict(full, .late) == .late)
    #expect(try reason(.fetched([])) == .certificate)
    #expect(try reason(.fetched(Array("<html>".utf8))) == .certificate)
    #expect(try reason(.fetched(Array(SignedCaller.otherCurve.utf8))) == .certificate)
    #expect(try reason(.fetched(Array(SignedCaller.authority.utf8))) == .certificate)
    let chain = Array(repeating: SignedCaller.provider + "\n", count: 6).joined()
    #expect(try reason(.fetched(Array(chain.utf8))) == .certificate)
    #expect(Self.reason(try Self.verdict(full, authorities: IdentityAuthorities())) == .untrusted)
    #expect(Self.reason(try Self.verdict([SignedCaller.forged])) == .signature)
  }

  @Test("one token that holds is enough; of others the first failure is told; a failed one never counts as late")
  func several() throws {
    #expect(try Self.verdict([SignedCaller.stale, SignedCaller.partial]) == .verified(VerifiedIdentity(.partial)))
    #expect(Self.reason(try Self.verdict([SignedCaller.forged, SignedCaller.stale])) == .stale)
    #expect(Self.reason(try Self.verdict([SignedCaller.full, SignedCaller.stale], .late)) == .stale)
    #expect(try Self.verdict([]) == .absent)
    #expect(try Self.verdict(["", " ", ";info=<x>"]) == .absent)
  }

  @Test("a caller without a number is not verified, whoever was signed")
  func nobody() throws {
    #expect(Self.reason(try Self.verdict([SignedCaller.full], caller: nil)) == .caller)
  }

  @Test("diversions are followed from the called number inwards (RFC 8946)")
  func diverted() throws {
    let inner = SignedCaller.otherCalled
    #expect(
      try Self.verdict([SignedCaller.diversion, inner])
        == .verified(VerifiedIdentity(.full, divertedBy: "46850000999")))
    #expect(
      try Self.verdict([inner, SignedCaller.firstDiversion, SignedCaller.secondDiversion])
        == .verified(VerifiedIdentity(.full, divertedBy: "46850000888")))
    #expect(Self.reason(try Self.verdict([inner, SignedCaller.secondDiversion])) == .called, "a link is missing")
    #expect(Self.reason(try Self.verdict([inner, SignedCaller.diversionOfAnother])) == .called)
    #expect(Self.reason(try Self.verdict([inner, SignedCaller.forgedDiversion])) == .signature)
  }

  @Test("a thousand changed tokens are all refused")
  func changed() throws {
    let field = SignedCaller.full
    let length = try #require(field.firstIndex(of: ";")).utf16Offset(in: field)
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var random = SplitMix(state: 7)
    for number in 0..<1000 {
      var bytes = Array(field.utf8)
      let place = Int(random.next() % UInt64(length))
      switch number % 3 {
      case 0:
        // The next letter, so that it is never the same one.
        let letter = letters.firstIndex(of: bytes[place]) ?? 0
        bytes[place] = letters[(letter + 1 + Int(random.next() % 63)) % 64]
      case 1: bytes.remove(at: place)
      default: bytes.insert(letters[Int(random.next() % 64)], at: place)
      }
      let changed = String(decoding: bytes, as: UTF8.self)
      let verdict = try Self.verdict([changed])
      #expect(Self.reason(verdict) != nil, "change \(number) at \(place): \(verdict)")
    }
  }

  /// SplitMix64.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      return mixed ^ mixed >> 31
    }
  }

  @Test(
    "the list of authorities says what it cannot be",
    arguments: [
      ("", "authorities.pem"), ("text", "authorities.pem"), (SignedCaller.provider, "authorities.authority"),
      ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "authorities.pem"),
      ("-----BEGIN CERTIFICATE-----\n", "authorities.pem"),
    ])
  func badAuthorities(_ pem: String, _ rule: String) {
    let error = #expect(throws: InvalidValue.self) { try IdentityAuthorities(pems: [Array(pem.utf8)]) }
    #expect(error?.rule == rule)
  }

  @Test("each reason has the response of RFC 8224 section 6.2.2")
  func responses() {
    let statuses = Dictionary(grouping: IdentityFailure.Reason.allCases) { IdentityFailure($0, "").status }
    #expect(statuses[403] == [.stale])
    #expect(statuses[436] == [.info, .address, .unreachable])
    #expect(statuses[437] == [.certificate, .untrusted, .expired, .authority])
    #expect(statuses[438]?.count == 9)
  }
}

/// The shared vectors: rows with the verdict that others reached.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct PassportVectorTests {
  /// What the columns of a row stand for.
  private enum Expected: Equatable {
    case verified, absent
    case failed([Int])
  }

  private static func expected(_ row: [String: String]) throws -> Expected {
    let response = try #require(row["response_if_enforcing"])
    switch response {
    case "no verdict", "accept or 428 by policy": return .absent
    case "accept": return .verified
    // Digits with a plus are read; a text in place of a list is not.
    case "either": return row["case"] == "orig-plus" ? .verified : .failed([438])
    default:
      let statuses = response.split { !$0.isNumber }.compactMap { Int($0) }
      return .failed(try #require(statuses.isEmpty ? nil : statuses))
    }
  }

  @Test func everyIdentityRowHasItsVerdict() throws {
    let rows = try TestVectors.table("stir/identity.tsv")
    #expect(rows.count == 27)
    let authorities = try IdentityAuthorities(pems: [Array(TestVectors.text("stir/certs/root.pem").utf8)])
    for row in rows {
      let name = try #require(row["case"])
      let clock = Instant(seconds: try #require(row["now_epoch"].flatMap { Int64($0) }))
      let numbers = IdentityExamination.Numbers(
        caller: try E164Number(#require(row["from_number"])), called: [try E164Number(#require(row["called"]))])
      let fields = name == "no-identity" ? [] : [row["identity_header_value"] ?? ""]
      let examination = IdentityExamination(fields, for: numbers, at: clock)
      let files = try #require(row["certificate"]).split(separator: " + ").filter { $0.hasSuffix(".pem") }
      let chain = try files.map { try TestVectors.text("stir/certs/\($0)") }.joined()
      let certificate: IdentityExamination.Certificate =
        files.isEmpty ? .unreachable("404 Not Found") : .fetched(Array(chain.utf8))
      let answers = Dictionary(uniqueKeysWithValues: examination.wanted.map { ($0, certificate) })
      let verdict = examination.verdict(answers, authorities, at: clock)
      switch (try Self.expected(row), verdict) {
      case (.verified, .verified(let identity)):
        #expect(identity.attestation == .full, "\(name)")
      case (.absent, .absent): break
      case (.failed(let statuses), .failed(let failure)):
        #expect(statuses.contains(failure.status), "\(name): \(failure)")
      case (let expected, _): Issue.record("\(name) should be \(expected), and is \(verdict)")
      }
    }
  }

  @Test func everySignatureRowHolds() throws {
    let rows = try TestVectors.table("stir/es256.tsv")
    #expect(rows.count == 5)
    for row in rows {
      let name = try #require(row["case"])
      let token = try #require(row["token"])
      let parts = token.split(separator: ".")
      let key = try #require(Base64.decode(Array((row["public_key_spki_base64"] ?? "").utf8)))
      let signed = Array(parts.prefix(2).joined(separator: ".").utf8)
      let signature = try #require(Base64.decode(Array(parts[2].utf8), .url))
      #expect(ES256.verifies(signature, of: signed, key: key) == (row["signature"] == "valid"), "\(name)")
      var other = signature
      other[40] ^= 1
      #expect(!ES256.verifies(other, of: signed, key: key), "\(name), one bit changed")
      #expect(!ES256.verifies(signature, of: signed.dropLast(), key: key), "\(name), one byte less")
    }
  }

  /// libstirshaken's certificates have another text where RFC 8226 wants a TNAuthList, and no CA flag in the service
  /// provider's: its chain leads to its CA, and gives no right to a number.
  @Test func certificatesOfAnotherStack() throws {
    let folder = "stir/libstirshaken"
    let provider = try #require(try certificate("\(folder)/sp.pem"))
    let authority = try #require(try certificate("\(folder)/ca.pem"))
    let wrong = try #require(try certificate("\(folder)/wrongsp.pem"))
    let anchors = try #require(CertificateAnchors([authority]))
    #expect(provider.isP256 && authority.isAuthority && !provider.isAuthority)
    #expect(throws: Never.self) { try anchors.verify([provider], atUnixSeconds: 1_700_000_000) }
    #expect(throws: CertificateAnchors.Problem.notYetValid) {
      try anchors.verify([provider], atUnixSeconds: 1_600_000_000)
    }
    #expect(throws: CertificateAnchors.Problem.untrusted) { try anchors.verify([wrong], atUnixSeconds: 1_700_000_000) }
    #expect(provider.value(ofExtension: "1.3.6.1.5.5.7.1.26") != nil)
    #expect(provider.value(ofExtension: "1.3.6.1.5.5.7.1.27") == nil)
  }

  @Test func anExpiredCertificateIsToldAsSuch() throws {
    let chain = try ["sp-expired", "intermediate"].map { try #require(try certificate("stir/certs/\($0).pem")) }
    let root = try #require(try certificate("stir/certs/root.pem"))
    let anchors = try #require(CertificateAnchors([root]))
    #expect(throws: CertificateAnchors.Problem.expired) { try anchors.verify(chain, atUnixSeconds: 1_750_000_000) }
  }

  private func certificate(_ path: String) throws -> Certificate? {
    let text = try TestVectors.text(path)
    let lines = text.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN CERT") }.dropFirst()
      .prefix { !$0.hasPrefix("-----") }
    return Base64.decode(Array(lines.joined().utf8)).flatMap { Certificate(der: $0) }
  }
}
