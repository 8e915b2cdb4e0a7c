package import CallModel
import LandlineDigest
import Synchronization

/// People who signed in on the gateway's pages, by the SHA-256 of their cookie. They last as long as the process, and no
/// longer than the key that they signed in with.
package final class PageSessions: Sendable {
  package static let maximumSessions = 1024
  /// From the sign-in, whatever is done.
  package static let absoluteMilliseconds: Int64 = 8 * 3_600_000
  /// Without a request.
  package static let idleMilliseconds: Int64 = 2 * 3_600_000
  static let cookieName = "landline"
  private static let identifierBytes = 32
  /// Most cookies of our name that are looked at: another port of the host can set some beside ours.
  static let maximumCandidates = 4

  /// What a session stands on.
  package enum Ground: Sendable {
    /// SHA-256 of the bearer key; asked for again with every request, so that a key that is taken away ends its sessions.
    case key([UInt8])
    /// A development gateway, by the environment's name.
    case development(String)
  }

  /// SHA-256 of a cookie's value.
  package struct ID: Hashable, Sendable {
    let digest: [UInt8]

    package init(_ text: some StringProtocol) {
      digest = Array(text.utf8).withUnsafeBytes { MessageDigest.sha256().digest(of: $0) }
    }

    /// Tells sessions apart where people see it; nothing can be done with it.
    var label: String { RESTCursor.hexadecimal(digest.prefix(8)) }
  }

  private struct Session {
    var ground: Ground
    var beganAt: Instant
    var usedAt: Instant

    func isOver(_ now: Instant) -> Bool {
      now >= beganAt.advanced(byMilliseconds: absoluteMilliseconds)
        || now >= usedAt.advanced(byMilliseconds: idleMilliseconds)
    }
  }

  private let sessions = Mutex<[ID: Session]>([:])
  private let draw: @Sendable () -> UInt64

  /// - Parameter draw: 64 bits from the system's generator.
  package init(draw: @escaping @Sendable () -> UInt64) { self.draw = draw }

  package var count: Int { sessions.withLock { $0.count } }

  /// - Returns: the cookie's value, told to nobody else.
  package func begin(_ ground: Ground, at now: Instant) -> String {
    var bytes: [UInt8] = []
    while bytes.count < Self.identifierBytes { withUnsafeBytes(of: draw()) { bytes += $0 } }
    let text = Base64.encode(bytes, .url)
    sessions.withLock { sessions in
      if sessions.count >= Self.maximumSessions { sessions = sessions.filter { !$0.value.isOver(now) } }
      if sessions.count >= Self.maximumSessions,
        let oldest = sessions.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
      {
        sessions[oldest] = nil
      }
      sessions[ID(text)] = Session(ground: ground, beganAt: now, usedAt: now)
    }
    return text
  }

  /// What the session stands on and when it ends whatever is done; `nil` when there is none. It counts as used.
  package func use(_ id: ID, at now: Instant) -> (ground: Ground, endsAt: Instant)? {
    sessions.withLock { sessions in
      guard var session = sessions[id] else { return nil }
      guard !session.isOver(now) else {
        sessions[id] = nil
        return nil
      }
      session.usedAt = max(session.usedAt, now)
      sessions[id] = session
      return (session.ground, session.beganAt.advanced(byMilliseconds: Self.absoluteMilliseconds))
    }
  }

  package func end(_ id: ID) { sessions.withLock { $0[id] = nil } }

  // MARK: - Cookies

  /// Values of our cookie in a request (RFC 6265 section 4.2).
  package static func candidates(_ request: RESTRequest) -> [ID] {
    var found: [ID] = []
    for field in request.headers where field.name == "cookie" {
      for pair in field.value.split(separator: ";") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, String(parts[0]).trimmedSpaces == cookieName else { continue }
        found.append(ID(String(parts[1]).trimmedSpaces))
        if found.count == maximumCandidates { return found }
      }
    }
    return found
  }

  static func cookie(_ value: String, isSecure: Bool) -> (String, String) {
    let seconds = value.isEmpty ? 0 : absoluteMilliseconds / 1000
    return (
      "Set-Cookie",
      "\(cookieName)=\(value); HttpOnly; SameSite=Strict; Path=/; Max-Age=\(seconds)\(isSecure ? "; Secure" : "")"
    )
  }
}
