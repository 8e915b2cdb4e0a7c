public import AppProtocol
public import CallModel

/// A user that a call is for, with the devices that may ring.
public struct CalledUser: Sendable {
  /// Why no device can ring.
  public enum Absence: Hashable, Sendable {
    /// No device of the user has ever registered.
    case unknown
    /// None is there now, or none listens.
    case unreachable
    /// Those that are there cannot be called: they came without `calling`, or are older than calls to users.
    case incapable
    /// Each that is there is in a call.
    case busy

    var failure: CallFailure {
      switch self {
      case .unknown: CallFailure(.userUnknown, sipStatus: 404, leg: .app)
      case .unreachable: CallFailure(.userUnreachable, sipStatus: 480, leg: .app)
      case .incapable: CallFailure(.capabilityRemote, phrase: "no device of the user takes calls", leg: .app)
      case .busy: CallFailure(.userBusy, sipStatus: 486, leg: .app)
      }
    }
  }

  /// Key of the application that caller and called user share.
  public var application: String
  /// Whom the call is for.
  public var user: UserID
  /// In the order in which they registered; never the device that calls.
  public var devices: [CalledDevice]
  /// Every session of the user: any of them may be in a call.
  public var sessions: [SessionID]
  /// What is true where ``devices`` is empty.
  public var absence: Absence
  /// What the caller pays; `nil` for a call that is free, of which no ledger hears.
  package var price: RateSnapshot?

  /// Free of charge.
  public init(
    application: String, user: UserID, devices: [CalledDevice], sessions: [SessionID] = [],
    absence: Absence = .unreachable
  ) {
    self.application = application
    self.user = user
    self.devices = devices
    self.sessions = sessions
    self.absence = absence
  }
}

/// A device that may ring: over which session it hears of a call, and what it wants while it is in another.
public struct CalledDevice: Hashable, Sendable {
  /// The newest of the device's sessions that listens.
  public var session: SessionID
  /// Its user, and the device's name.
  public var identity: AppIdentity
  /// Older sessions of the device, which keep the calls that they have.
  public var olderSessions: [SessionID]
  /// Its own rule, or the application's.
  public var busyRule: BusyRule
  /// What it calls itself; empty for none.
  public var name = ""
  /// Whether it is told who is in its conferences.
  public var followsRooms = false
  /// How it is reached, where it is a telephone: then ``session`` stands for its registration alone.
  public var phone: PhoneReach?
  /// The device is in a call, and rings all the same.
  var isWaiting = false

  public init(
    session: SessionID, identity: AppIdentity, olderSessions: [SessionID] = [], busyRule: BusyRule = .device,
    phone: PhoneReach? = nil
  ) {
    self.phone = phone
    self.session = session
    self.identity = identity
    self.olderSessions = olderSessions
    self.busyRule = busyRule
  }
}
