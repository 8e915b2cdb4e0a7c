import CallModel
import SIPCore

/// Challenges of servers, credentials of clients.
enum DigestDoors {
  static let all = [
    FuzzDoor("digest-challenge", "WWW-Authenticate", dictionary: "digest", challenge),
    FuzzDoor("digest-credentials", "Authorization", dictionary: "digest", credentials),
    FuzzDoor("digest-information", "Authentication-Info", dictionary: "digest", information),
  ]

  private static let request = DigestRequest(method: "INVITE", uri: "sip:bob@example.com", body: Array("v=0".utf8))
  private static let password = "a secret that stays here"
  private static let key = Redacted([UInt8](repeating: 7, count: DigestServer.minimumKeyByteCount))

  /// Read, printed and read again it is the same; one realm is answered once, and never with the password.
  private static func challenge(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    if let challenge = try? DigestChallenge(parsing: input) {
      let written = challenge.description
      try promise((try? DigestChallenge(parsing: written)) == challenge, "\(written) is not what was read")
    }
    var client = DigestClient(account: DigestAccount(username: "alice", password: Redacted(password)))
    let fields = text.split(separator: "\n", maxSplits: 12).map { DigestField(.userAgent, String($0)) }
    var previous: DigestAuthorization?
    for _ in 0..<3 {
      guard let answer = try? client.answer(fields, to: request, previous: previous, cnonce: "cnonce") else { break }
      for field in answer.fields {
        try promise(!field.value.contains(password), "the password leaves")
        let again = try promised(
          try? DigestCredentials(parsing: field.value), "what was written is refused: \(field.value)")
        try promise(again.username == "alice" && again.uri == request.uri, "other credentials: \(field.value)")
        _ = try? OutgoingField(field.scope.credentialsFieldName, field.value)
      }
      previous = answer
    }
  }

  /// Chance finds no password, and no nonce is taken twice.
  private static func credentials(_ input: [UInt8]) throws(BrokenPromise) {
    if let credentials = try? DigestCredentials(parsing: input) {
      let written = credentials.description
      try promise((try? DigestCredentials(parsing: written)) == credentials, "\(written) is not what was read")
    }
    guard var server = try? DigestServer(realm: "example.com", key: key) else { return }
    let now = Instant(milliseconds: 1_700_000_000_000)
    let offered = server.challenges(now: now)
    let text = String(decoding: input, as: UTF8.self)
    for user in [Redacted(password), nil] {
      let verdict = server.check([text], of: request, now: now) { _ in user }
      if case .accepted = verdict { throw BrokenPromise(description: "chance is let in") }
    }
    // Right credentials stand beside what a stranger sent: they count once.
    var client = DigestClient(account: DigestAccount(username: "alice", password: Redacted(password)))
    guard
      let right = try? client.answer(
        offered.map { DigestField(.userAgent, $0.description) }, to: request, previous: nil, cnonce: "c"),
      let field = right.fields.first
    else { throw BrokenPromise(description: "our own challenge is not answered") }
    let first = server.check([field.value], of: request, now: now) { _ in Redacted(password) }
    try promise(first == .accepted(username: "alice"), "right credentials are refused: \(first)")
    let second = server.check([field.value], of: request, now: now) { _ in Redacted(password) }
    try promise(second == .challenge(.replayed), "the same credentials count twice: \(second)")
  }

  private static func information(_ input: [UInt8]) throws(BrokenPromise) {
    guard let read = try? DigestInformation(parsing: String(decoding: input, as: UTF8.self)) else { return }
    try promise(read.nextNonce != "", "an empty nonce")
    var client = DigestClient(account: DigestAccount(username: "alice", password: Redacted(password)))
    let challenge = DigestChallenge(
      realm: "example.com", nonce: "n", algorithm: .sha256, qualities: [.authentication])
    guard
      let sent = try? client.answer(
        [DigestField(.userAgent, challenge.description)], to: request, previous: nil, cnonce: "c")
    else { throw BrokenPromise(description: "our own challenge is not answered") }
    let isTaken = client.accept(read, scope: .userAgent, for: sent)
    try promise(!isTaken || read.responseAuthentication == nil, "chance proved that it knows the password")
    guard isTaken, let next = read.nextNonce else { return }
    let following = client.authorization(for: request, cnonce: "c")
    try promise(following?.entries.first?.credentials.nonce == next, "the next nonce is not used")
  }
}
