public import CallModel

/// What the gateway sends to an app.
public enum ServerMessage: Hashable, Sendable {
  case registered(RequestNumber, Registered)
  case resumed(RequestNumber, Resumed)
  /// A reply or an event of the session. The sequence number rises with each; `nil` for what is not sent again after
  /// a loss: quality, and who is in a conference and speaks there.
  case event(AppEvent, sequence: UInt64?)
  case pong(RequestNumber)
  /// The message with this number was not understood, or not accepted at the door; `nil` when it had no number.
  case error(RequestNumber?, CallFailure)
  /// No new calls here; the connection closes once the last call has ended.
  case draining
  /// Other relays than before, or fresh credentials for them; `nil`: there are none any more.
  indirect case relays(TURNAccess?)
  /// The session is over; the close frame follows.
  case closing(reason: String)
}

/// The answer to a registration.
public struct Registered: Hashable, Sendable {
  /// The session's public name.
  public var session: String
  /// Takes the session up again, once.
  public var token: Redacted<String>
  /// How long a lost session waits to be taken up again.
  public var resumeSeconds: Int
  /// The user as the gateway knows it.
  public var user: UserID
  /// Credentials for later registrations of this user on this device.
  public var credential: DeviceCredential?
  /// The gateway's version.
  public var version: String
  /// Those of the app's features that the gateway has too.
  public var features: Set<AppFeature>
  /// Relays for the session's sound; `nil` where the gateway has none.
  public var relays: TURNAccess?

  /// `credential` is `nil` where the app registered with one, which stays good.
  public init(
    session: String, token: Redacted<String>, resumeSeconds: Int, user: UserID, credential: DeviceCredential?,
    version: String, features: Set<AppFeature> = [], relays: TURNAccess? = nil
  ) {
    self.session = session
    self.token = token
    self.resumeSeconds = resumeSeconds
    self.user = user
    self.credential = credential
    self.version = version
    self.features = features
    self.relays = relays
  }
}

/// The answer to a resumption. The events that were missed follow it.
public struct Resumed: Hashable, Sendable {
  /// The token for the next time.
  public var token: Redacted<String>
  /// How long the session waits to be taken up after its next loss.
  public var resumeSeconds: Int
  /// The highest request number that arrived in this session; later requests were lost and can be sent again.
  public var lastRequest: UInt64
  /// Live calls of the session.
  public var calls: [CallID]
  /// Relays for the session's sound, from now on; `nil` where the gateway has none.
  public var relays: TURNAccess?

  /// The token is for the next loss; the one that was used is spent.
  public init(
    token: Redacted<String>, resumeSeconds: Int, lastRequest: UInt64, calls: [CallID], relays: TURNAccess? = nil
  ) {
    self.token = token
    self.resumeSeconds = resumeSeconds
    self.lastRequest = lastRequest
    self.calls = calls
    self.relays = relays
  }
}
