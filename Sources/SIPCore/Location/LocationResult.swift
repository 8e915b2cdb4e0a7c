/// Where a URI lives, or why nobody knows.
public enum LocationResult: Hashable, Sendable {
  /// In the order to try; at least one.
  case found([LocationTarget])
  case failed(LocationFailure)

  /// Empty after a failure.
  public var targets: [LocationTarget] {
    if case .found(let targets) = self { return targets }
    return []
  }
}

/// One place to send a request to.
public struct LocationTarget: Hashable, Sendable {
  public let address: TransportAddress
  /// For TLS: the host of the URI, whatever names DNS led to (RFC 5922 section 4). A numeric host is written without
  /// brackets.
  public let serverName: String?

  public init(_ address: TransportAddress, serverName: String? = nil) {
    self.address = address
    self.serverName = serverName
  }
}

/// Why a URI could not be located.
public struct LocationFailure: Error, Hashable, Sendable {
  /// What stood in the way.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A tel URI, one without a host, or one with maddr.
    case unusableURI
    /// DNS says that there is no such host, or no address of a family this node has.
    case noSuchHost
    /// The URI or its domain asks for a transport or an address family that this node does not have.
    case noSupportedTransport
    /// The name servers gave no answer: another try may help.
    case nameServersUnreachable
    /// More questions wait than the resolver takes.
    case tooManyQuestions
    /// The resolver has been shut down.
    case shutDown
  }

  public let kind: Kind
  /// What was asked for: a host, a transport or a rule.
  public let subject: String

  public init(_ kind: Kind, _ subject: String) {
    self.kind = kind
    self.subject = subject
  }
}

extension LocationFailure: CustomStringConvertible {
  /// What stood in the way and, behind it, the subject.
  public var description: String {
    switch kind {
    case .unusableURI: "the URI cannot be located: \(subject)"
    case .noSuchHost: "no address for \(subject)"
    case .noSupportedTransport: "no transport in common: \(subject)"
    case .nameServersUnreachable: "the name servers do not answer for \(subject)"
    case .tooManyQuestions: "too many questions wait: \(subject)"
    case .shutDown: "the resolver is shut down: \(subject)"
    }
  }
}
