import CallModel

/// Who telephones are, and where they can be reached: what the agent asks before it does anything for one of them.
///
/// Whoever has not proved who it is costs a look at its request and at most one answer, which no transaction repeats. The
/// answer is the same for a name that nobody has and for a wrong password.
struct PhoneDoor: Sendable {
  /// What becomes of a request.
  enum Verdict: Sendable {
    /// It is not for telephones.
    case other
    /// The telephone of this name is who it says.
    case proven(String)
    /// Nothing is said: this source has had its share.
    case ignored
    /// Answered without a transaction.
    case answered(status: Int, phrase: String, fields: [OutgoingField])
  }

  private(set) var registrar: Registrar
  private var server: DigestServer
  private var counts: SourceCounts
  private var credentials: [String: PhoneCredential] = [:]

  /// - Parameter draw: 64 random bits each time.
  /// - Returns: `nil` where libcrypto offers none of the algorithms.
  init?(_ limits: RegistrarLimits, draw: () -> UInt64) {
    var key: [UInt8] = []
    while key.count < DigestServer.minimumKeyByteCount {
      withUnsafeBytes(of: draw()) { key.append(contentsOf: $0) }
    }
    var policy = DigestServer.Policy.standard
    policy.algorithms = limits.algorithms
    guard let server = try? DigestServer(realm: PhoneKeys.realm, key: Redacted(key), policy: policy) else { return nil }
    self.server = server
    registrar = Registrar(limits)
    counts = SourceCounts(limits)
  }

  /// Without telephones nobody is challenged.
  var isOpen: Bool { !credentials.isEmpty }

  /// Everything that is still held, for tests of what is left behind.
  var holdings: [String: Int] { ["bindings": registrar.count, "sources": counts.count] }

  /// Takes over who may register. The bindings of those that are gone, or have another password or owner, end.
  /// - Returns: Telephones whose bindings have ended.
  mutating func replace(_ phones: [PhoneCredential]) -> Set<String> {
    let former = credentials
    credentials = Dictionary(phones.map { ($0.name, $0) }) { first, _ in first }
    var changed: Set<String> = []
    for (name, row) in former where credentials[name] != row {
      if !registrar.bindings(of: name).isEmpty { changed.insert(name) }
      registrar.remove(name)
    }
    return changed
  }

  // MARK: - Requests

  /// Judges a request outside of dialogs.
  /// - Parameter isTrunk: whether it came from a host that calls may come from without a proof.
  mutating func judge(
    _ message: ScannedMessage, from path: SIPPath, isTrunk: Bool, at now: MonotonicInstant
  ) -> Verdict {
    guard isOpen, let method = message.method, method == "REGISTER" || method == "INVITE", message.to?.tag == nil else {
      return .other
    }
    let isRegister = method == "REGISTER"
    let registered = registrar.phones(over: path)
    if !isRegister, isTrunk, registered.isEmpty, !carries(DigestScope.proxy.credentialsFieldName, message) {
      return .other
    }
    let host = path.remote.host
    let isShut = counts.isShut(host, at: now)
    guard !isShut || !registered.isEmpty else { return .ignored }
    guard case .success(let request) = MessageParser.values(of: message), let uri = message.requestURI else {
      return counts.admitsAnswer(to: host, at: now)
        ? .answered(status: 400, phrase: "Bad Request", fields: []) : .ignored
    }
    let scope = isRegister ? DigestScope.userAgent : .proxy
    let fields = request.values(scope.credentialsFieldName)
    // A telephone that is registered keeps its way, whoever else guesses behind the same address; for itself alone.
    if isShut,
      !fields.contains(where: {
        (try? DigestCredentials(parsing: $0)).map { registered.contains($0.username) } ?? false
      })
    {
      return .ignored
    }
    let verdict = server.check(
      fields,
      of: DigestRequest(method: method, uri: message.text(uri), body: request.body?.bytes ?? []), now: now.asInstant
    ) { [credentials] username, algorithm in credentials[username]?.keys.hash(algorithm) }
    switch verdict {
    case .accepted(let username): return .proven(username)
    case .notChallenged: return .other
    case .malformed:
      guard counts.admitsAnswer(to: host, at: now) else { return .ignored }
      return .answered(status: 400, phrase: "Bad Credentials", fields: [])
    case .challenge(let fault):
      if fault == .wrongCredentials { counts.failed(host, at: now) }
      guard counts.admitsAnswer(to: host, at: now) else { return .ignored }
      let challenges = server.challenges(now: now.asInstant, isStale: fault.isStale)
      return .answered(
        status: isRegister ? 401 : 407, phrase: isRegister ? "Unauthorized" : "Proxy Authentication Required",
        fields: challenges.flatMap { DialogFields.field(scope.challengeFieldName, $0.description) })
    }
  }

  private func carries(_ name: String, _ message: ScannedMessage) -> Bool {
    message.headers.contains { message.text($0.name).lowercased() == name.lowercased() }
  }

  /// Carries out the REGISTER of a telephone that has proved who it is.
  mutating func register(
    _ request: SIPMessage, by phone: String, from path: SIPPath, at now: MonotonicInstant
  ) -> Registrar.Outcome {
    guard let owner = credentials[phone]?.owner else { return Registrar.Outcome(response: OutgoingResponse(403)) }
    return registrar.register(request, by: phone, of: owner, from: path, at: now)
  }

  /// - Returns: Whether bindings have ended.
  mutating func expire(_ phone: String, at now: MonotonicInstant) -> Bool { registrar.expire(phone, at: now) }
}

extension MonotonicInstant {
  /// For the ages of nonces, which need no clock that people read.
  fileprivate var asInstant: Instant { Instant(milliseconds: milliseconds) }
}
