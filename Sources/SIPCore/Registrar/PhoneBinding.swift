public import CallModel

/// Where a telephone can be reached (RFC 3261 section 10): one Contact that it registered, and the way that its REGISTER came.
public struct PhoneBinding: Hashable, Sendable {
  /// Of its ``PhoneCredential``.
  public let phone: String
  /// The same binding keeps its number when it is refreshed, and no other ever gets it.
  public let number: UInt64
  /// As registered: the Request-URI of calls to it. Behind an address translation nobody can send there.
  public var contact: SIPURI
  /// Where calls to it are sent: over UDP where the REGISTER came from, over a stream the same connection.
  public var path: SIPPath
  /// Of the last REGISTER.
  public var callID: String
  /// Of the last REGISTER.
  public var sequence: UInt32
  /// What the telephone calls itself; empty for nothing, cut to ``RegistrarLimits/userAgentBytes``.
  public var userAgent: String
  /// When the last REGISTER came.
  public var refreshedAt: MonotonicInstant
  /// When it ends unless it is refreshed.
  public var expiresAt: MonotonicInstant

  public init(
    phone: String, number: UInt64, contact: SIPURI, path: SIPPath, callID: String, sequence: UInt32, userAgent: String,
    refreshedAt: MonotonicInstant, expiresAt: MonotonicInstant
  ) {
    self.phone = phone
    self.number = number
    self.contact = contact
    self.path = path
    self.callID = callID
    self.sequence = sequence
    self.userAgent = userAgent
    self.refreshedAt = refreshedAt
    self.expiresAt = expiresAt
  }

  /// Whole seconds until it ends, rounded up.
  public func seconds(at now: MonotonicInstant) -> Int64 {
    max(0, (expiresAt.milliseconds(since: now) + 999) / 1000)
  }
}
