public import CallModel
import LandlineDigest

/// What lets an app use relays for its sound (RFC 8656), where its network lets no UDP through.
///
/// Its members have the names of WebRTC's RTCIceServer in messages, so that a page can hand them on as they are.
public struct TURNAccess: Hashable, Sendable {
  /// Most servers that an app is told.
  public static let maximumServers = 8

  /// The ones to try first stand first.
  public var servers: [TURNServer]
  /// Says itself until when it is good: ``TURNService/access(of:at:)``.
  public var username: String
  public var password: Redacted<String>
  /// No relay is given for these credentials any more from then on.
  public var expiresAt: Instant

  /// As the gateway told them; ``TURNService`` makes them.
  public init(servers: [TURNServer], username: String, password: Redacted<String>, expiresAt: Instant) {
    self.servers = servers
    self.username = username
    self.password = password
    self.expiresAt = expiresAt
  }
}

/// TURN servers, and the secret that they share with the gateway: it makes credentials that they accept, for a while, and
/// asks nobody. The form is that of draft-uberti-behave-turn-rest-00, which coturn calls `use-auth-secret`.
public struct TURNService: Hashable, Sendable {
  /// How long credentials are good where nothing else is said: a call may last four hours by default, and is begun with
  /// credentials that have half of their time before them at least.
  public static let standardLifetimeSeconds: Int64 = 43_200
  /// Ten minutes to a week.
  public static let lifetimeSeconds: ClosedRange<Int64> = 600...604_800
  /// Bytes of a secret: long enough that it is not found by trying, short enough for one line.
  public static let secretLength = 16...512

  /// The ones to try first stand first.
  public var servers: [TURNServer]
  /// The bytes of the text are the key.
  public var secret: Redacted<String>
  /// From the moment that credentials are made.
  public var lifetimeSeconds: Int64

  /// At most ``TURNAccess/maximumServers`` count.
  public init(
    servers: [TURNServer], secret: Redacted<String>, lifetimeSeconds: Int64 = TURNService.standardLifetimeSeconds
  ) {
    self.servers = Array(servers.prefix(TURNAccess.maximumServers))
    self.secret = secret
    self.lifetimeSeconds = lifetimeSeconds
  }

  /// Credentials of one user: `EXPIRY:USER`, with the second at which they end, and Base64(HMAC-SHA1(secret, that)).
  /// - Returns: `nil` where this machine's libcrypto has no SHA-1.
  public func access(of user: UserID, at clock: Instant) -> TURNAccess? {
    guard let code = HMAC(.sha1, key: Array(secret.exposed.utf8)) else { return nil }
    let expiry = clock.milliseconds / 1000 + lifetimeSeconds
    let username = "\(expiry):\(user.text)"
    return TURNAccess(
      servers: servers, username: username,
      password: Redacted(Base64.encode(code.code(of: Array(username.utf8)))),
      expiresAt: Instant(milliseconds: expiry * 1000))
  }

  /// When credentials made at `clock` are replaced: with half of their time left, so that no call begins with less.
  func renewal(at clock: Instant) -> Instant {
    Instant(milliseconds: clock.milliseconds + lifetimeSeconds * 500)
  }
}
