public import CallModel

/// What happens to a client.
public enum ClientEvent: Sendable {
  /// The gateway knows the user: calls can be placed.
  case started(user: String)
  /// The start failed, or the session is over and could not be begun anew; the client has stopped.
  case failed(CallFailure)
  /// The client has stopped as it was asked to.
  case stopped
  /// The connection is lost and being made anew; calls go on.
  case connectionLost
  /// The connection stands again, and so do its calls.
  case connectionResumed
  /// The app's server is asked to vouch for the user (``ClientCredentials/callback(_:)``).
  case requiresCredentials(user: String, device: String)
  /// The gateway takes no new calls on this connection.
  case draining
  /// Something for a log.
  case log(LogEntry)
}

/// One line for an app's log. Carries no secret, no number of a called party.
public struct LogEntry: Hashable, Sendable, CustomStringConvertible {
  /// How much it matters, from least to most.
  public enum Severity: String, Hashable, Sendable, CaseIterable {
    case trace, info, warning, critical
  }

  public let severity: Severity
  /// `session`, `media`, `credentials`.
  public let area: String
  /// One line of plain words, control characters replaced.
  public let message: String
  /// By this device's clock.
  public let at: Instant

  /// Cuts a long message short and replaces its control characters.
  public init(_ severity: Severity, area: String, _ message: String, at: Instant) {
    self.severity = severity
    self.area = area
    self.message = CallFailure.shortened(message)
    self.at = at
  }

  /// Time, severity, `area: message`, on one line.
  public var description: String { "\(at) \(severity.rawValue) \(area): \(message)" }
}
