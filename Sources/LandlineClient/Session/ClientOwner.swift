import CallModel

/// Whoever started a client's run, and hears what becomes of it. Called on the run's loop.
protocol ClientOwner: AnyObject, Sendable {
  /// What all calls share.
  var audio: AudioController { get }

  /// Calls can be placed, in the name of this user.
  func started(_ user: String)
  /// The run ends because it cannot go on.
  func failed(_ failure: CallFailure)
  /// The run has ended.
  func stopped()
  func tell(_ event: ClientEvent)
  func log(_ severity: LogEntry.Severity, _ area: String, _ message: String)
}
