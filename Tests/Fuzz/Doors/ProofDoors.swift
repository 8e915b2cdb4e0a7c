import AppProtocol
import CallModel

/// What apps and their servers prove themselves with.
enum ProofDoors {
  static let all = [
    FuzzDoor("app-token", "a registration token, signed or not", dictionary: "token", maximumBytes: 2200, token),
    FuzzDoor("app-proof", "signatures and device credentials", dictionary: "token", maximumBytes: 1024, proof),
    FuzzDoor("rest-signature", "lines of a signed request", dictionary: "token", maximumBytes: 4096, signature),
  ]

  private static let secret = "c2VjcmV0IHRoYXQgc3RheXMgaGVyZQ=="
  private static let clock = Instant(milliseconds: 1_700_000_000_000)

  /// Chance signs nothing; of claims that are signed only those within the bounds pass.
  private static func token(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    let taken = ApplicationToken(text, application: "app", user: "alice", secret: secret, clock: clock)
    try promise(taken == nil, "chance signed a token")
    // The input as nonce, user and times of a token that our own maker signs.
    let nonce = String(decoding: input.prefix(160), as: UTF8.self)
    let life = input.prefix(2).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    guard
      let made = ApplicationToken.make(
        application: "app", user: "alice", secret: secret, nonce: nonce, issuedAt: clock, lifeSeconds: life)
    else { throw BrokenPromise(description: "no token is made") }
    let read = ApplicationToken(made, application: "app", user: "alice", secret: secret, clock: clock)
    let isGood =
      (1...ApplicationToken.maximumNonceBytes).contains(nonce.utf8.count)
      && (ApplicationToken.minimumLifeSeconds...ApplicationToken.maximumLifeSeconds).contains(life)
      && made.utf8.count <= ApplicationToken.maximumBytes
    try promise((read != nil) == isGood, "\(made) is \(isGood ? "refused" : "taken")")
    if let read { try promise(read.nonce == nonce, "another nonce") }
    for (application, user) in [("app2", "alice"), ("app", "bob")] {
      try promise(
        ApplicationToken(made, application: application, user: user, secret: secret, clock: clock) == nil,
        "a token of somebody else is taken")
    }
    // One byte that is another spoils it.
    guard let first = input.first else { return }
    var bytes = Array(made.utf8)
    let place = (Int(first) * 7) % bytes.count
    bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
    try promise(
      ApplicationToken(
        String(decoding: bytes, as: UTF8.self), application: "app", user: "alice", secret: secret, clock: clock) == nil,
      "a changed token is taken")
  }

  /// Only the right signature is one, and lengths keep names apart.
  private static func proof(_ input: [UInt8]) throws(BrokenPromise) {
    let parts = input.split(separator: 0x0A, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    let (user, device) = (parts[0], parts.count > 1 ? parts[1] : "")
    let sequence = UInt64(input.count)
    guard
      let right = RegistrationSignature.compute(user: user, application: "app", sequence: sequence, secret: secret)
    else { return }
    for text in parts {
      let isValid = RegistrationSignature.isValid(
        text, user: user, application: "app", sequence: sequence, secret: secret)
      try promise(isValid == text.utf8.elementsEqual(right.utf8), "a wrong signature is right")
    }
    try promise(
      RegistrationSignature.isValid(right, user: user, application: "app", sequence: sequence, secret: secret),
      "the right signature is wrong")
    let id = StoredCredential.id(application: user, user: device, device: "x", isBounded: true)
    if !user.isEmpty {
      let moved = String(user.unicodeScalars.dropLast())
      let rest = String(user.unicodeScalars.suffix(1)) + device
      try promise(
        StoredCredential.id(application: moved, user: rest, device: "x", isBounded: true) != id, "two names, one id")
    }
    guard let name = try? UserID(user) else { return }
    let credential = DeviceCredential.make(id: id, expiresAt: nil) { 7 }
    let stored = credential.stored(application: "app", user: name, device: device)
    try promise(stored.matches(secret: credential.secret.exposed), "our own credential is refused")
    try promise(!stored.matches(secret: device), "chance knows a credential")
  }

  private static func signature(_ input: [UInt8]) throws(BrokenPromise) {
    let parts = input.split(separator: 0x0A, maxSplits: 4, omittingEmptySubsequences: false)
    func part(_ index: Int) -> String { parts.count > index ? String(decoding: parts[index], as: UTF8.self) : "" }
    let request = RequestSignature(
      verb: part(0), body: Array(part(4).utf8), contentType: part(1), timestamp: part(2), path: part(3))
    guard let right = request.compute(secret: secret) else { return }
    try promise(request.isValid(right, secret: secret), "the right signature is wrong")
    try promise(!request.isValid(part(0), secret: secret), "chance signed a request")
    var other = request
    other.body.append(0x20)
    try promise(!other.isValid(right, secret: secret), "another body is signed as well")
    other = request
    other.path += "/"
    try promise(!other.isValid(right, secret: secret), "another path is signed as well")
  }
}
