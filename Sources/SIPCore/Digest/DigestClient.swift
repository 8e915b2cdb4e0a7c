import CallModel

/// The client side of digest authentication towards one peer: answers challenges and remembers nonces by realm.
///
/// Of several challenges of one realm the strongest algorithm is answered, of equally strong ones the topmost. RFC 8760
/// section 2.4 says topmost unless local policy says otherwise, and servers are to list the strongest first; ours is
/// that a list in another order does not lower the strength. `auth` is preferred to `auth-int`, which breaks where an
/// element on the way rewrites the body. Holds no clock and no random source.
public struct DigestClient: Sendable {
  private struct Session: Sendable {
    let scope: DigestScope
    var challenge: DigestChallenge
    let algorithm: DigestAlgorithm
    let quality: QualityOfProtection?
    var nonceCount: UInt32 = 0
    /// The cnonce that is part of the key of a `-sess` algorithm, kept for the life of the nonce.
    var sessionCnonce: String?

    func matches(_ scope: DigestScope, _ realm: String) -> Bool {
      self.scope == scope && challenge.realm.utf8.elementsEqual(realm.utf8)
    }
  }

  /// Fixed: another account needs another client.
  public let account: DigestAccount
  /// Bounds what is read of challenges, realms remembered and rounds.
  public let limits: DigestLimits
  /// By age, the oldest first.
  private var sessions: [Session] = []

  /// One client for each peer, kept as long as its nonces are to be used again.
  public init(account: DigestAccount, limits: DigestLimits = .standard) {
    self.account = account
    self.limits = limits
  }

  /// Credentials for a request that was not challenged yet, from what earlier challenges left
  /// (RFC 3261 section 22.3).
  /// - Parameter cnonce: Fresh and unpredictable.
  /// - Returns: `nil` where no realm is known, and for a CANCEL or an ACK, which carries those of its INVITE.
  public mutating func authorization(for request: DigestRequest, cnonce: String) -> DigestAuthorization? {
    guard request.canBeChallenged else { return nil }
    var entries: [DigestAuthorization.Entry] = []
    for index in sessions.indices {
      guard let credentials = credentials(sessions[index].scope, index, request, cnonce) else { continue }
      entries.append(
        DigestAuthorization.Entry(
          scope: sessions[index].scope, credentials: credentials, isAnswer: false, followsStaleNonce: false))
    }
    return entries.isEmpty ? nil : DigestAuthorization(entries: entries, skipped: [], rounds: 0)
  }

  /// Answers the challenges of a 401 or 407.
  ///
  /// The request is to be sent again with a new branch and CSeq + 1, in the same dialog if it was in one, with the
  /// fields of the result in place of those it had.
  /// - Parameters:
  ///   - challenges: All WWW-Authenticate and Proxy-Authenticate fields of the response, from the top.
  ///   - previous: What the challenged request carried; `nil` if it carried nothing.
  ///   - cnonce: Fresh and unpredictable.
  /// - Throws: ``DigestRefusal`` where sending again would be wrong or in vain.
  public mutating func answer(
    _ challenges: [DigestField], to request: DigestRequest, previous: DigestAuthorization?, cnonce: String
  ) throws(DigestRefusal) -> DigestAuthorization {
    guard request.canBeChallenged else { throw DigestRefusal(reason: .methodCannotBeRepeated, skipped: []) }
    guard !challenges.isEmpty else { throw DigestRefusal(reason: .noChallenge, skipped: []) }
    let (chosen, skipped) = choose(challenges)
    guard !chosen.isEmpty else {
      let isForeign = skipped.contains { $0.reason == .foreignRealm }
      throw DigestRefusal(reason: isForeign ? .foreignRealm : .nothingToAnswer, skipped: skipped)
    }
    let rounds = (previous?.rounds ?? 0) + 1
    guard rounds <= limits.rounds else { throw DigestRefusal(reason: .tooManyRounds, skipped: skipped) }

    var entries: [DigestAuthorization.Entry] = []
    for session in chosen {
      let realm = session.challenge.realm
      let sent = previous?.entry(session.scope, realm: realm)
      if let sent, let reason = DigestClient.refusal(of: session.challenge, after: sent) {
        forget(session.scope, realm)
        throw DigestRefusal(reason: reason, skipped: skipped)
      }
      forget(session.scope, realm)
      if sessions.count >= max(1, limits.realms) { sessions.removeFirst() }
      sessions.append(session)
      guard let credentials = credentials(session.scope, sessions.count - 1, request, cnonce) else { continue }
      entries.append(
        DigestAuthorization.Entry(
          scope: session.scope, credentials: credentials, isAnswer: true,
          followsStaleNonce: sent != nil && session.challenge.isStale))
    }
    // Realms that were content stay in: a proxy asks again of the repeated request.
    for sent in previous?.entries ?? [] {
      let realm = sent.credentials.realm
      guard !chosen.contains(where: { $0.matches(sent.scope, realm) }),
        let index = sessions.firstIndex(where: { $0.matches(sent.scope, realm) }),
        let credentials = credentials(sent.scope, index, request, cnonce)
      else { continue }
      // Another nonce than the one sent was not refused yet.
      let isSame = credentials.nonce == sent.credentials.nonce
      entries.append(
        DigestAuthorization.Entry(
          scope: sent.scope, credentials: credentials, isAnswer: isSame && sent.isAnswer,
          followsStaleNonce: sent.followsStaleNonce))
    }
    return DigestAuthorization(entries: entries, skipped: skipped, rounds: rounds)
  }

  /// Takes the next nonce from a 2xx response.
  ///
  /// With a `-sess` algorithm it is passed over: the key stays bound to the first nonce by the letter of RFC 7616
  /// section 3.4.2 and not by common practice, and a later stale=true costs one round trip and is certain.
  /// - Parameters:
  ///   - authorization: What the request carried.
  ///   - body: The body of the response, which an `rspauth` with auth-int covers.
  /// - Returns: `false` where the field's proof is wrong or was made for other credentials; nothing is taken then.
  @discardableResult
  public mutating func accept(
    _ information: DigestInformation, scope: DigestScope, for authorization: DigestAuthorization, body: [UInt8] = []
  ) -> Bool {
    let candidates = authorization.entries.filter { $0.scope == scope }
    // The field names no realm, so with several it could be anybody's.
    guard candidates.count == 1, let credentials = candidates.first?.credentials,
      let index = sessions.firstIndex(where: { $0.matches(scope, credentials.realm) })
    else { return false }
    if let proof = information.responseAuthentication {
      let algorithm = sessions[index].algorithm
      guard
        let keyHash = DigestComputation.keyHash(
          algorithm, username: account.username, realm: credentials.realm, password: account.password,
          nonce: credentials.nonce, cnonce: credentials.cnonce ?? ""),
        let expected = DigestComputation.response(
          algorithm, keyHash: keyHash, request: DigestRequest(method: "", uri: credentials.uri, body: body),
          nonce: credentials.nonce, quality: information.quality ?? credentials.quality,
          nonceCount: credentials.nonceCount ?? 0, cnonce: credentials.cnonce ?? ""),
        Secret.equal(proof, expected)
      else { return false }
    }
    // A late response must not bring back the successor of a nonce that was replaced since.
    if let next = information.nextNonce, !sessions[index].algorithm.isSession,
      sessions[index].challenge.nonce == credentials.nonce
    {
      sessions[index].challenge.nonce = next
      sessions[index].nonceCount = 0
    }
    return true
  }

  /// Why a challenge to credentials that were sent is not answered again.
  private static func refusal(
    of challenge: DigestChallenge, after sent: DigestAuthorization.Entry
  ) -> DigestRefusal.Reason? {
    if challenge.isStale {
      // A stale nonce that comes back unchanged would be refused again.
      let isHopeless = sent.followsStaleNonce || challenge.nonce == sent.credentials.nonce
      return isHopeless ? .staleAgain(realm: challenge.realm) : nil
    }
    // Many servers forget a nonce without calling it stale: what came from an earlier request gets one more try.
    let isRefused = sent.isAnswer || challenge.nonce == sent.credentials.nonce
    return isRefused ? .wrongCredentials(realm: challenge.realm) : nil
  }

  /// One challenge for each scope and realm.
  private func choose(_ fields: [DigestField]) -> (chosen: [Session], skipped: [SkippedChallenge]) {
    var chosen: [Session] = []
    var skipped: [SkippedChallenge] = []
    for (number, field) in fields.enumerated() {
      func skip(_ reason: SkippedChallenge.Reason) {
        skipped.append(SkippedChallenge(scope: field.scope, reason: reason))
      }
      guard number < limits.challenges else {
        skip(.tooMany)
        break
      }
      let challenge: DigestChallenge
      do {
        challenge = try DigestChallenge(parsing: field.value, limits: limits)
      } catch {
        skip(error.rule == "digest.scheme" ? .scheme : .malformed(error))
        continue
      }
      if let realm = account.realm, !realm.utf8.elementsEqual(challenge.realm.utf8) {
        skip(.foreignRealm)
        continue
      }
      guard let algorithm = challenge.algorithm, algorithm.isAvailable, account.algorithms.contains(algorithm) else {
        skip(.algorithm(challenge.algorithmToken ?? DigestAlgorithm.md5.rawValue))
        continue
      }
      let quality = challenge.qualities.contains(.authentication) ? .authentication : challenge.qualities.first
      guard quality != nil || challenge.qualityTokens.isEmpty else {
        skip(.quality)
        continue
      }
      let session = Session(scope: field.scope, challenge: challenge, algorithm: algorithm, quality: quality)
      guard let rival = chosen.firstIndex(where: { $0.matches(field.scope, challenge.realm) }) else {
        chosen.append(session)
        continue
      }
      if chosen[rival].algorithm.strength < algorithm.strength { chosen[rival] = session }
      skip(.weaker)
    }
    return (chosen, skipped)
  }

  private mutating func forget(_ scope: DigestScope, _ realm: String) {
    sessions.removeAll { $0.matches(scope, realm) }
  }

  /// Counts the nonce of a session up and signs; `nil` where the count is used up.
  private mutating func credentials(
    _ scope: DigestScope, _ index: Int, _ request: DigestRequest, _ fresh: String
  ) -> DigestCredentials? {
    let session = sessions[index]
    let (count, overflow) = session.nonceCount.addingReportingOverflow(1)
    guard !overflow else { return nil }
    let cnonce = session.sessionCnonce ?? fresh
    guard
      let keyHash = DigestComputation.keyHash(
        session.algorithm, username: account.username, realm: session.challenge.realm, password: account.password,
        nonce: session.challenge.nonce, cnonce: cnonce),
      let response = DigestComputation.response(
        session.algorithm, keyHash: keyHash, request: request, nonce: session.challenge.nonce,
        quality: session.quality, nonceCount: count, cnonce: cnonce)
    else { return nil }
    sessions[index].nonceCount = count
    if session.algorithm.isSession { sessions[index].sessionCnonce = cnonce }
    return DigestCredentials(
      username: account.username, realm: session.challenge.realm, nonce: session.challenge.nonce, uri: request.uri,
      response: response, algorithmToken: session.challenge.algorithmToken == nil ? nil : session.algorithm.rawValue,
      // Without a quality only a -sess key needs the cnonce, and the server cannot compute it otherwise.
      cnonce: session.quality != nil || session.algorithm.isSession ? cnonce : nil,
      opaque: session.challenge.opaque, quality: session.quality,
      nonceCount: session.quality != nil ? count : nil)
  }
}
