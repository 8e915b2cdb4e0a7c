import CallModel
import Foundation
import SIPCore
import TestVectors
import Testing

/// Published and computed digests, and the list of client behaviours.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct DigestVectorTests {
  struct Row {
    let name: String
    let algorithm: DigestAlgorithm
    let quality: QualityOfProtection?
    let request: DigestRequest
    let account: DigestAccount
    let realm: String
    let nonce: String
    let nonceCount: UInt32
    let cnonce: String
    let keyHash: String
    let response: String

    init(_ row: [String: String]) throws {
      name = try #require(row["case"])
      algorithm = try #require(DigestAlgorithm(token: row["algorithm"] ?? ""))
      let quality = try #require(row["qop"])
      self.quality = QualityOfProtection(token: quality)
      #expect(quality.isEmpty == (self.quality == nil))
      request = DigestRequest(
        method: try #require(row["method"]), uri: try #require(row["digest_uri"]),
        body: Array(try #require(Data(base64Encoded: row["body_base64"] ?? "-"))))
      realm = try #require(row["realm"])
      account = DigestAccount(
        username: try #require(row["username"]), password: Redacted(try #require(row["password"])), realm: realm)
      nonce = try #require(row["nonce"])
      nonceCount = UInt32(try #require(row["nc"]), radix: 16) ?? 0
      cnonce = try #require(row["cnonce"])
      keyHash = try #require(row["ha1"])
      response = try #require(row["response"])
    }
  }

  static func rows() throws -> [Row] { try TestVectors.table("sip-digest/digest.tsv").map(Row.init) }

  @Test func keyHashAndResponse() throws {
    var checked = 0
    for row in try DigestVectorTests.rows() {
      let keyHash = try #require(
        DigestComputation.keyHash(
          row.algorithm, username: row.account.username, realm: row.realm, password: row.account.password,
          nonce: row.nonce, cnonce: row.cnonce))
      let response = DigestComputation.response(
        row.algorithm, keyHash: keyHash, request: row.request, nonce: row.nonce, quality: row.quality,
        nonceCount: row.nonceCount, cnonce: row.cnonce)
      #expect(keyHash.exposed == row.keyHash, "\(row.name)")
      #expect(response == row.response, "\(row.name)")
      checked += 1
    }
    print("digest vectors: \(checked) rows")
    #expect(checked >= 29)
  }

  /// The same rows as a challenge that the client answers, as often as the row counts.
  @Test func theClientSignsTheSame() throws {
    var checked = 0
    for row in try DigestVectorTests.rows() where row.nonceCount <= 9 {
      var client = DigestClient(account: row.account)
      let challenge = DigestChallenge(
        realm: row.realm, nonce: row.nonce, algorithm: row.algorithm, qualities: row.quality.map { [$0] } ?? [])
      var authorization = try client.answer(
        [DigestField(.userAgent, challenge.description)], to: row.request, previous: nil, cnonce: row.cnonce)
      for _ in 0..<(max(1, row.nonceCount) - 1) {
        authorization = try #require(DigestClientTests.next(&client, row.request, row.cnonce))
      }
      let field = try #require(authorization.fields.first)
      let credentials = try DigestCredentials(parsing: field.value)
      #expect(credentials.response == row.response, "\(row.name)")
      #expect(credentials.username == row.account.username && credentials.realm == row.realm, "\(row.name)")
      #expect(credentials.nonceCount == (row.quality == nil ? nil : row.nonceCount), "\(row.name)")
      checked += 1
    }
    #expect(checked >= 20)
  }

  /// Every listed behaviour has a check here; a new row without one fails.
  @Test func listedClientBehaviours() throws {
    let request = DigestRequest(method: "INVITE", uri: "sip:b@example.com")
    func client() -> DigestClient {
      DigestClient(account: DigestAccount(username: "u", password: Redacted("p"), realm: "a"))
    }
    func answer(_ values: String...) throws -> DigestAuthorization {
      var client = client()
      return try client.answer(
        values.map { DigestField(.userAgent, $0) }, to: request, previous: nil, cnonce: "c")
    }
    func text(_ authorization: DigestAuthorization) throws -> String { try #require(authorization.fields.first).value }
    func refusal(_ values: String...) throws -> DigestRefusal {
      try #require(
        #expect(throws: DigestRefusal.self) {
          var client = client()
          _ = try client.answer(values.map { DigestField(.userAgent, $0) }, to: request, previous: nil, cnonce: "c")
        })
    }
    let plain = #"Digest realm="a", nonce="n1""#
    let rows = try TestVectors.table("sip-digest/challenges.tsv")
    #expect(rows.count >= 12)
    for row in rows {
      let name = try #require(row["case"])
      switch name {
      case "c01":
        let credentials = try #require(try answer(plain).entries.first).credentials
        #expect(credentials.algorithmToken == nil && credentials.algorithm == .md5)
        #expect(credentials.quality == nil && credentials.cnonce == nil && credentials.nonceCount == nil)
        #expect(credentials.response.utf8.count == 32)
      case "c03":
        let printed = try text(answer(plain + #", qop="auth,auth-int""#))
        #expect(printed.contains("qop=auth, nc=00000001"))
        #expect(try DigestCredentials(parsing: printed).quality == .authentication)
      case "c04":
        #expect(try text(answer(plain + #",algorithm="MD5""#)).contains("algorithm=MD5"))
      case "c06":
        let authorization = try answer(plain + ", algorithm=SHA3-999", plain + ", algorithm=MD5")
        #expect(try text(authorization).contains("algorithm=MD5"))
        #expect(authorization.skipped.map(\.reason) == [.algorithm("SHA3-999")])
      case "c07":
        let refusal = try refusal(plain + ", algorithm=SHA3-999")
        #expect(refusal.reason == .nothingToAnswer)
        #expect(refusal.skipped.map(\.reason) == [.algorithm("SHA3-999")])
      case "c08":
        let refusal = try refusal(#"Basic realm="a""#)
        #expect(refusal.reason == .nothingToAnswer)
        #expect(refusal.skipped.map(\.reason) == [.scheme])
      case "c11":
        var client = client()
        let authorization = try client.answer(
          [DigestField(.userAgent, plain), DigestField(.proxy, #"Digest realm="a", nonce="n2""#)], to: request,
          previous: nil, cnonce: "c")
        #expect(authorization.fields.map(\.scope.credentialsFieldName) == ["Authorization", "Proxy-Authorization"])
        #expect(authorization.entries.map(\.credentials.nonce) == ["n1", "n2"])
      case "c13":
        let printed = try text(answer(plain + #", opaque="", qop="""#))
        #expect(printed.contains(#"opaque="""#))
        #expect(!printed.contains("qop") && !printed.contains("nc="))
      case "c15":
        let printed = try text(answer(plain + #", qop="auth", charset=UTF-8, userhash=true, unknown-param=7"#))
        #expect(printed.contains("qop=auth"))
        #expect(!printed.contains("userhash") && !printed.contains("unknown-param"))
      case "c16":
        for method in ["INVITE", "BYE", "INFO", "REFER", "UPDATE", "PRACK", "MESSAGE", "REGISTER", "OPTIONS"] {
          var client = client()
          let authorization = try client.answer(
            [DigestField(.userAgent, plain)], to: DigestRequest(method: method, uri: "sip:b@example.com"),
            previous: nil, cnonce: "c")
          #expect(authorization.fields.count == 1, "\(method)")
        }
      case "c17", "c18":
        var client = client()
        let first = try client.answer(
          [DigestField(.userAgent, plain + #", qop="auth""#)], to: request, previous: nil, cnonce: "c")
        if name == "c17" {
          let information = try DigestInformation(parsing: #"nextnonce="n2""#)
          #expect(DigestClientTests.accept(&client, information, scope: .userAgent, for: first))
        }
        let next = try #require(DigestClientTests.next(&client, request, "d")?.entries.first).credentials
        #expect(next.nonce == (name == "c17" ? "n2" : "n1"))
        #expect(next.nonceCount == (name == "c17" ? 1 : 2))
      default:
        Issue.record("\(name): a behaviour without a check")
      }
    }
  }
}
