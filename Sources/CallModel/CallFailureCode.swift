/// The stable dotted name of a class of failures. Clients and dashboards match on the raw value; it never changes.
public enum CallFailureCode: String, Hashable, Sendable, CaseIterable {
  case busy = "sip.busy"
  case declined = "sip.declined"
  case blocked = "sip.blocked"
  case unallocated = "sip.unallocated"
  case unreachable = "sip.unreachable"
  case noAnswer = "sip.noAnswer"
  case cancelled = "sip.cancelled"
  case trunkAuth = "sip.trunkAuth"
  case identity = "sip.identity"
  case media = "sip.media"
  case negotiation = "sip.negotiation"
  case congestion = "sip.congestion"
  case transport = "sip.transport"
  case redirect = "sip.redirect"
  case request = "sip.request"
  case server = "sip.server"
  case global = "sip.global"
  case protocolBroken = "sip.protocol"

  case networkUnreachable = "network.unreachable"
  case networkTimeout = "network.timeout"
  case networkSecurity = "network.security"
  case networkLost = "network.lost"

  case capabilityRemote = "capability.remote"
  case capabilityLocal = "capability.local"

  case funds = "gw.funds"
  case rate = "gw.rate"
  case policy = "gw.policy"
  case limit = "gw.limit"
  case noRoute = "gw.noRoute"
  case billing = "gw.billing"
  case currency = "gw.currency"
  case number = "gw.number"
  case address = "gw.address"
  case header = "gw.header"
  case mediaLost = "gw.mediaLost"
  case message = "gw.message"
  case registration = "gw.registration"
  case sequence = "gw.sequence"
  case unavailable = "gw.unavailable"
  case `internal` = "gw.internal"

  /// The row of the catalogue.
  public var details: CallFailureClass { CallFailureCatalogue.row(for: self) }
}
