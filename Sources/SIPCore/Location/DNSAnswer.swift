public import CallModel

/// What became of a ``DNSQuestion``.
public enum DNSAnswer: Hashable, Sendable {
  case naptr([NAPTRRecord])
  case srv([SRVRecord])
  /// To a question for A or AAAA, in the order of the answer.
  case addresses([SIPHost])
  /// The name does not exist, or has no record of the kind.
  case notFound
  /// A server answered, but not with an answer: SERVFAIL, REFUSED, NOTIMP, or bytes that make no sense.
  case serverFailure
  /// No server answered in time.
  case timedOut
}

/// One record of RFC 3403.
public struct NAPTRRecord: Hashable, Sendable {
  /// Lowest first; records of a higher order than the lowest usable one are passed over.
  public let order: UInt16
  /// Lowest first among records of one order.
  public let preference: UInt16
  /// `s` where an SRV question follows.
  public let flags: String
  /// `SIP+D2U` and the like.
  public let services: String
  /// A record that has one is passed over.
  public let regularExpression: String
  /// The name to ask SRV for.
  public let replacement: String

  public init(
    order: UInt16, preference: UInt16, flags: String, services: String, regularExpression: String = "",
    replacement: String
  ) {
    self.order = order
    self.preference = preference
    self.flags = flags
    self.services = services
    self.regularExpression = regularExpression
    self.replacement = replacement
  }
}

/// One record of RFC 2782.
public struct SRVRecord: Hashable, Sendable {
  /// Lower is tried first.
  public let priority: UInt16
  /// Share among records of one priority.
  public let weight: UInt16
  /// Where on ``target`` the service listens.
  public let port: UInt16
  /// A lone `.` or the empty text says that the service is not offered.
  public let target: String

  public init(priority: UInt16, weight: UInt16, port: UInt16, target: String) {
    self.priority = priority
    self.weight = weight
    self.port = port
    self.target = target
  }
}
