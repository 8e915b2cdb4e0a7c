public import CallModel
import LandlineDigest

/// The server side of digest authentication for one realm: challenges, and checks credentials.
///
/// A nonce needs no memory until it was used with a right password. Holds no clock and no random source.
public struct DigestServer: Sendable {
  /// What a server offers and remembers.
  public struct Policy: Hashable, Sendable {
    /// From the most preferred (RFC 8760 section 2.3); each gets a challenge of its own.
    public var algorithms: [DigestAlgorithm]
    /// Empty for the form of RFC 2069, where each nonce is good for one request.
    public var qualities: [QualityOfProtection]
    /// Milliseconds that a nonce is good for.
    public var nonceLifetime: Int64
    /// Nonces whose count is remembered; those forgotten count as stale.
    public var trackedNonces: Int

    /// `nonceLifetime` in milliseconds. An empty `qualities` makes each nonce good for one request.
    public init(
      algorithms: [DigestAlgorithm], qualities: [QualityOfProtection], nonceLifetime: Int64, trackedNonces: Int
    ) {
      self.algorithms = algorithms
      self.qualities = qualities
      self.nonceLifetime = nonceLifetime
      self.trackedNonces = trackedNonces
    }

    /// SHA-256 before MD5, which many telephones know alone; `auth`; five minutes.
    public static let standard = Policy(
      algorithms: [.sha256, .md5], qualities: [.authentication], nonceLifetime: 300_000, trackedNonces: 65_536)
  }

  /// Least bytes of a key (RFC 2104 section 3).
  public static let minimumKeyByteCount = 32
  /// How far a nonce may lie ahead of the clock, in milliseconds: clocks are set back a little.
  static let clockTolerance: Int64 = 2_000

  /// Stands in each challenge; credentials for another one are passed over.
  public let realm: String
  /// As given, but for algorithms that this machine cannot compute.
  public let policy: Policy
  /// Bounds what is read of one request.
  public let limits: DigestLimits
  private let key: Redacted<[UInt8]>
  private var serial: UInt64 = 0
  private var counts: NonceCounts

  /// - Parameter key: Random, at least 32 bytes, made anew for each server: what was counted is forgotten with it, so
  ///   a key used again would let old requests be replayed.
  /// - Throws: ``InvalidValue`` with rules `digest.key` and `digest.offer`: no algorithm that this machine can compute.
  public init(
    realm: String, key: Redacted<[UInt8]>, policy: Policy = .standard, limits: DigestLimits = .standard
  ) throws(InvalidValue) {
    guard key.exposed.count >= DigestServer.minimumKeyByteCount else {
      throw InvalidValue(
        kind: "digest server", rule: "digest.key", offset: nil, problem: "the key has \(key.exposed.count) bytes",
        accepted: "at least \(DigestServer.minimumKeyByteCount) random bytes")
    }
    var policy = policy
    policy.algorithms.removeAll { !$0.isAvailable }
    guard !policy.algorithms.isEmpty else {
      throw InvalidValue(
        kind: "digest server", rule: "digest.offer", offset: nil,
        problem: "none of the algorithms can be computed on this machine",
        accepted: "at least one of \(DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self.realm = realm
    self.key = key
    self.policy = policy
    self.limits = limits
    counts = NonceCounts(limit: policy.trackedNonces)
  }

  /// Nonces whose count is remembered now.
  public var trackedNonceCount: Int { counts.count }

  /// Fresh challenges, one for each algorithm with one nonce for all, the most preferred first.
  public mutating func challenges(now: Instant, isStale: Bool = false) -> [DigestChallenge] {
    serial &+= 1
    let nonce = DigestNonce(issued: now, serial: serial).text(key: key, realm: realm)
    return policy.algorithms.map {
      DigestChallenge(realm: realm, nonce: nonce, algorithm: $0, qualities: policy.qualities, isStale: isStale)
    }
  }

  /// Checks the credentials of a request against passwords.
  ///
  /// As ``check(_:of:now:keyHash:)``.
  /// - Parameter password: The password of a user, `nil` for one unknown; should take the same time for both.
  public mutating func check(
    _ fields: [String], of request: DigestRequest, now: Instant, password: (_ username: String) -> Redacted<String>?
  ) -> DigestVerdict {
    check(fields, of: request, now: now) { [realm, key] username, algorithm in
      // Made for a known user too, so that it takes no time of its own.
      let decoy = DigestServer.decoy(username, key: key)
      let known = password(username)
      let hash = DigestComputation.keyHash(
        algorithm, username: username, realm: realm, password: known ?? decoy, nonce: "", cnonce: "")
      return known == nil ? nil : hash
    }
  }

  /// Checks the credentials of a request.
  ///
  /// The response is computed before anything is said about the nonce: only who knows the password hears that it was
  /// stale, and an unknown user takes the time of a known one.
  /// - Parameters:
  ///   - fields: The values of all Authorization fields (of Proxy-Authorization at a proxy).
  ///   - keyHash: H(user:realm:password) as lower-case hexadecimal, in the plain algorithm that is named; `nil` for a user
  ///     that is unknown. It should take the same time for both.
  public mutating func check(
    _ fields: [String], of request: DigestRequest, now: Instant,
    keyHash: (_ username: String, _ plain: DigestAlgorithm) -> Redacted<String>?
  ) -> DigestVerdict {
    guard request.canBeChallenged else { return .notChallenged }
    var problem: InvalidValue?
    var found: DigestCredentials?
    for field in fields.prefix(max(0, limits.credentials)) {
      do {
        let credentials = try DigestCredentials(parsing: field, limits: limits)
        guard credentials.realm.utf8.elementsEqual(realm.utf8) else { continue }
        guard found == nil else {
          return .malformed(refusal("repeated", "the realm stands in two sets of credentials"))
        }
        found = credentials
      } catch {
        // Another scheme is for somebody else, or for nobody: a challenge says what is taken here.
        if error.rule != "digest.scheme" { problem = problem ?? error }
      }
    }
    guard let credentials = found else { return problem.map { .malformed($0) } ?? .challenge(.absent) }
    guard DigestURI.matches(credentials.uri, request.uri) else {
      return .malformed(refusal("uri", "the uri of the credentials is not the Request-URI"))
    }
    guard let algorithm = credentials.algorithm, policy.algorithms.contains(algorithm) else {
      return .challenge(.algorithm)
    }
    if let quality = credentials.quality {
      guard policy.qualities.contains(quality) else { return .challenge(.quality) }
    } else {
      // Leaving the quality out would undo the count and so the defence against replay.
      guard policy.qualities.isEmpty else { return .challenge(.quality) }
    }
    guard !algorithm.isSession || credentials.cnonce != nil else {
      return .malformed(refusal("missing", "a -sess algorithm stands without cnonce"))
    }

    // Made for a known user too, so that it takes no time of its own.
    let decoy = DigestServer.decoy(credentials.username, key: key)
    let known = keyHash(credentials.username, algorithm.plain)
    guard isRight(credentials, algorithm, request, known ?? decoy), known != nil else {
      return .challenge(.wrongCredentials)
    }
    guard let nonce = DigestNonce(credentials.nonce, key: key, realm: realm) else { return .challenge(.staleNonce) }
    let age = now.milliseconds(since: nonce.issued)
    guard age <= policy.nonceLifetime, age >= -DigestServer.clockTolerance else { return .challenge(.staleNonce) }
    // Without a count the nonce is used up at once.
    guard counts.use(nonce, count: credentials.quality == nil ? .max : credentials.nonceCount ?? 0) else {
      return .challenge(.replayed)
    }
    return .accepted(username: credentials.username)
  }

  private func isRight(
    _ credentials: DigestCredentials, _ algorithm: DigestAlgorithm, _ request: DigestRequest,
    _ base: Redacted<String>
  ) -> Bool {
    let cnonce = credentials.cnonce ?? ""
    // The client signed its own spelling of the URI.
    let signed = DigestRequest(method: request.method, uri: credentials.uri, body: request.body)
    guard
      let keyHash = DigestComputation.keyHash(algorithm, base: base, nonce: credentials.nonce, cnonce: cnonce),
      let expected = DigestComputation.response(
        algorithm, keyHash: keyHash, request: signed, nonce: credentials.nonce, quality: credentials.quality,
        nonceCount: credentials.nonceCount ?? 0, cnonce: cnonce)
    else { return false }
    return Secret.equal(credentials.response, expected)
  }

  /// A password for a user that does not exist, which nobody can know.
  private static func decoy(_ username: String, key: Redacted<[UInt8]>) -> Redacted<String> {
    Redacted(Hexadecimal.text(HMAC.sha256(key: key.exposed).code(of: Array(username.utf8)).prefix(8)))
  }

  private func refusal(_ rule: String, _ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "digest credentials", rule: "digest.\(rule)", offset: nil, problem: problem,
      accepted: "one set of credentials for the realm, made for this request (RFC 3261 section 22.4)")
  }
}
