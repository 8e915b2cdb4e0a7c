import AppProtocol
import CallModel
import SIPCore

/// Credentials, and the messages of apps.
extension PublishedAttack {
  private static let request = DigestRequest(method: "REGISTER", uri: "sip:example.com", body: [])
  private static let start = Instant(seconds: 1_700_000_000)

  private static func server() throws -> DigestServer {
    try DigestServer(
      realm: "realm", key: Redacted([UInt8](repeating: 7, count: 32)),
      policy: DigestServer.Policy(
        algorithms: [.sha256, .md5], qualities: [.authentication], nonceLifetime: 60_000, trackedNonces: 64))
  }

  private static func client(_ user: String = "alice", secret: String = "secret") -> DigestClient {
    DigestClient(account: DigestAccount(username: user, password: Redacted(secret), realm: "realm"))
  }

  /// What a server says to credentials: `in`, `asked again`, `malformed`.
  private static func check(
    _ fields: [String], by server: inout DigestServer, at now: Instant = start, method: String = "REGISTER"
  ) -> String {
    var asked = request
    asked.method = method
    let verdict = server.check(fields, of: asked, now: now) { $0 == "alice" ? Redacted("secret") : nil }
    switch verdict {
    case .accepted: return "in"
    case .challenge: return "asked again"
    case .malformed: return "malformed"
    case .notChallenged: return "not asked"
    }
  }

  private static func answered(
    _ client: inout DigestClient, by server: inout DigestServer
  ) throws -> [String] {
    let challenges = server.challenges(now: start).map { DigestField(.userAgent, $0.description) }
    return try client.answer(challenges, to: request, previous: nil, cnonce: "0a4f113b").fields.map(\.value)
  }

  /// Credentials of a good client, changed by the attacker.
  private static func forged(_ change: (String) -> String, user: String = "alice", secret: String = "secret") throws
    -> String
  {
    var server = try server()
    var client = client(user, secret: secret)
    return check(try answered(&client, by: &server).map(change), by: &server)
  }

  private static func message(_ source: String, _ title: String, _ text: @escaping @Sendable () -> String)
    -> PublishedAttack
  {
    PublishedAttack(source, title, "refused") {
      do {
        return "taken: \(try AppMessageCoder.decodeRequest(Array(text().utf8)))"
      } catch {
        return "refused"
      }
    }
  }

  static var access: [PublishedAttack] {
    [
      PublishedAttack("replay", "credentials that were used", "asked again") {
        var server = try server()
        var client = client()
        let fields = try answered(&client, by: &server)
        guard check(fields, by: &server) == "in" else { return "good credentials are refused" }
        return check(fields, by: &server)
      },
      PublishedAttack("replay", "credentials for another method", "asked again") {
        var server = try server()
        var client = client()
        return check(try answered(&client, by: &server), by: &server, method: "INVITE")
      },
      PublishedAttack("replay", "credentials whose nonce is a day old", "asked again") {
        var server = try server()
        var client = client()
        return check(try answered(&client, by: &server), by: &server, at: Instant(seconds: 1_700_086_400))
      },
      PublishedAttack("forgery", "a nonce of the attacker's own", "asked again", "malformed") {
        try forged { $0.replacing("nonce=\"", with: "nonce=\"A") }
      },
      PublishedAttack("forgery", "a response of noughts", "asked again", "malformed") {
        try forged { text in
          guard let range = text.range(of: "response=\"") else { return text }
          let end = text[range.upperBound...].firstIndex(of: "\"") ?? text.endIndex
          return text.replacingCharacters(range.upperBound..<end, with: "0".times(text.distance(range.upperBound, end)))
        }
      },
      PublishedAttack("forgery", "a response cut short", "asked again", "malformed") {
        try forged { text in
          guard let range = text.range(of: "response=\"") else { return text }
          let end = text[range.upperBound...].firstIndex(of: "\"") ?? text.endIndex
          return text.replacingCharacters(range.upperBound..<end, with: "")
        }
      },
      PublishedAttack("algorithm swap", "MD5 said of what was made with SHA-256", "asked again", "malformed") {
        try forged { $0.replacing("SHA-256", with: "MD5") }
      },
      PublishedAttack("algorithm swap", "an algorithm that nobody has", "asked again", "malformed") {
        try forged { $0.replacing("SHA-256", with: "NONE") }
      },
      PublishedAttack("downgrade", "credentials without quality of protection", "asked again", "malformed") {
        try forged { $0.replacing("qop=auth", with: "x=auth") }
      },
      PublishedAttack("CVE-2021-41157", "the right shape with a wrong password", "asked again") {
        try forged({ $0 }, secret: "guess")
      },
      PublishedAttack("enumeration", "a user that nobody has", "asked again") { try forged({ $0 }, user: "nobody") },
      PublishedAttack("CVE-2025-47779", "another's name in good credentials", "asked again") {
        try forged { $0.replacing("alice", with: "admin") }
      },
      PublishedAttack("GHSA-64qc-9x89-rx5j", "no credentials", "asked again") {
        var server = try server()
        return check([], by: &server)
      },
      PublishedAttack("GHSA-64qc-9x89-rx5j", "an empty field", "asked again", "malformed") {
        var server = try server()
        return check([""], by: &server)
      },
      PublishedAttack("CVE-2023-28098", "a field that stops inside a quote", "asked again", "malformed") {
        var server = try server()
        return check(["Digest username=\"alice, realm=\"realm"], by: &server)
      },
      PublishedAttack("parameter flood", "ten thousand parameters", "asked again", "malformed") {
        var server = try server()
        return check(["Digest " + "a=b,".times(10_000)], by: &server)
      },
      PublishedAttack("CVE-2021-41158", "a challenge for another realm than the account's", "nothing sent") {
        var client = client()
        let challenge = DigestField(.userAgent, #"Digest realm="evil", nonce="n", qop="auth""#)
        let answer = try? client.answer([challenge], to: request, previous: nil, cnonce: "c")
        return answer == nil ? "nothing sent" : "credentials sent"
      },
      PublishedAttack("challenge loop", "a server that asks for ever", "nothing sent") {
        var client = client()
        var previous: DigestAuthorization?
        for number in 0..<20 {
          let challenge = DigestField(.userAgent, #"Digest realm="realm", nonce="n\#(number)", qop="auth""#)
          guard let answer = try? client.answer([challenge], to: request, previous: previous, cnonce: "c") else {
            return "nothing sent"
          }
          previous = answer
        }
        return "answered twenty times"
      },
      message("CVE-2022-24667", "a number of a thousand digits") { #"{"type":"ping","id":\#("9".times(1000))}"# },
      message("FreeSWITCH 02ac36bb11", "a thousand arrays in one another") { "[".times(1000) + "]".times(1000) },
      message("FreeSWITCH 02ac36bb11", "a hundred thousand objects in one another") { #"{"a":"#.times(40_000) },
      message("PJSIP 12306eaf9", "a message above the limit") {
        #"{"type":"ping","id":1,"x":"\#("x".times(300_000))"}"#
      },
      message("JSON", "the same name twice") { #"{"type":"ping","id":1,"id":2}"# },
      message("JSON", "half a surrogate pair") { #"{"type":"hangup","id":1,"call":"\ud800"}"# },
      message("JSON", "an escape that stops") { #"{"type":"hangup","id":1,"call":"\u00"# },
      message("JSON", "a number with an exponent of a million") { #"{"type":"ping","id":1e1000000}"# },
      message("JSON", "bytes behind the message") { #"{"type":"ping","id":1}{"type":"ping","id":2}"# },
      message("FreeSWITCH 693f7dc6aa", "a register without proof") { #"{"type":"register","id":1,"user":"admin"}"# },
      message("GHSA-wcvv-g26m-wx5c", "a message for the server's own use") { #"{"type":"registered","id":1}"# },
    ]
  }
}

extension String {
  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }

  fileprivate func replacingCharacters(_ range: Range<Index>, with text: String) -> String {
    String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
  }

  fileprivate func distance(_ from: Index, _ to: Index) -> Int { self.distance(from: from, to: to) }
}
