import CallModel

/// The credentials of one request and of what comes after it in the same call (RFC 3261 section 22).
struct ChallengedRequest: Sendable {
  /// With the nonces that challenges left; `nil` without an account.
  private(set) var client: DigestClient?
  private var authorization: DigestAuthorization?
  /// Whether ``authorization`` was made for a challenge and was not sent yet.
  private var isFresh = false
  private let maximum: Int
  /// Challenges answered.
  private(set) var rounds = 0

  init(_ account: DigestAccount?, maximum: Int) {
    client = account.map { DigestClient(account: $0) }
    self.maximum = max(0, maximum)
  }

  /// The fields that go into this request.
  mutating func credentials(for request: OutgoingRequest, _ identifiers: IdentifierSource) -> [OutgoingField] {
    if isFresh {
      isFresh = false
    } else {
      authorization = client?.authorization(for: request.digest, cnonce: identifiers.token())
    }
    return DialogFields.credentials(authorization)
  }

  /// What the last request carried, for the ACK to its 2xx (RFC 3261 section 22.1).
  var sent: [OutgoingField] { DialogFields.credentials(authorization) }

  /// - Returns: Whether the request is to be sent again.
  mutating func answer(
    _ response: SIPMessage, to request: OutgoingRequest, _ identifiers: IdentifierSource
  ) -> Bool {
    guard rounds < maximum, client != nil else { return false }
    let challenges = DigestScope.allCases.flatMap { scope in
      response.values(scope.challengeFieldName).map { DigestField(scope, $0) }
    }
    guard
      let answer = try? client?.answer(
        challenges, to: request.digest, previous: authorization, cnonce: identifiers.token())
    else { return false }
    authorization = answer
    isFresh = true
    rounds += 1
    return true
  }

  /// Takes the next nonce of a 2xx.
  mutating func accept(_ response: SIPMessage) {
    guard let authorization else { return }
    for scope in DigestScope.allCases {
      guard let value = response.value(scope.informationFieldName),
        let information = try? DigestInformation(parsing: value)
      else { continue }
      client?.accept(information, scope: scope, for: authorization, body: response.body?.bytes ?? [])
    }
  }

  /// The request was not sent after all, and goes another way as it is.
  mutating func keep() { isFresh = authorization != nil }
}
