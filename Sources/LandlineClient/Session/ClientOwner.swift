import AppProtocol
import CallModel

/// Whoever started a client's run, and hears what becomes of it. Called on the run's loop.
protocol ClientOwner: AnyObject, Sendable {
  /// What all calls share.
  var audio: AudioController { get }

  /// Whether calls for the user are wanted.
  var isListeningOnActiveConnection: Bool { get }
  var applicationState: ApplicationState { get }

  /// Calls can be placed, in the name of this user; the features are those that both sides know.
  func started(_ user: String, _ features: Set<AppFeature>)
  func missed(_ call: MissedCall)
  /// The run ends because it cannot go on.
  func failed(_ failure: CallFailure)
  /// The run has ended.
  func stopped()
  func tell(_ event: ClientEvent)
  func log(_ severity: LogEntry.Severity, _ area: String, _ message: String)
}
