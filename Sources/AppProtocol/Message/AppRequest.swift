public import CallModel

/// What an app asks, once its session stands.
public enum AppRequest: Hashable, Sendable {
  case call(PlaceCall)
  case hangUp(CallID)
  /// Keys to press towards the other side: 0-9, *, #, A-D.
  case sendDigits(CallID, String)
  /// A new session description of the app: hold, resume, an ICE restart after the network changed. Answered with
  /// ``AppEvent/answered(_:_:_:)``.
  case offer(CallID, String)
  /// The app's answer to ``AppEvent/offered(_:_:)``.
  case answer(CallID, String)
  /// What the app says of its own microphone; for records and the other side's display, the app itself sends silence.
  case mute(CallID, Bool)
  /// What the app measured at the end of a call or in between.
  case report(CallID, ClientStatistics)
}

/// The request for a call. Texts are as the app wrote them: the engine checks them and names what is wrong.
public struct PlaceCall: Hashable, Sendable {
  public struct Header: Hashable, Sendable {
    public var name: String
    public var value: String
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  public var kind: Destination.Kind
  public var target: String
  public var headers: [Header]
  /// The app's session description.
  public var offer: String
  /// The number to show, E.164; `nil` for the application's own.
  public var callerNumber: String?
  /// Whether the number is withheld from the callee (RFC 3323).
  public var isAnonymous: Bool
  public var wantsVideo: Bool

  public init(
    kind: Destination.Kind, target: String, headers: [Header] = [], offer: String, callerNumber: String? = nil,
    isAnonymous: Bool = false, wantsVideo: Bool = false
  ) {
    self.kind = kind
    self.target = target
    self.headers = headers
    self.offer = offer
    self.callerNumber = callerNumber
    self.isAnonymous = isAnonymous
    self.wantsVideo = wantsVideo
  }
}

/// What an app measured of one call; kept with the call's record.
public struct ClientStatistics: Hashable, Sendable {
  /// Most figures of one report.
  public static let maximumFigures = 64
  /// Names as in the W3C's Identifiers for WebRTC's Statistics API, with their values.
  public var figures: [String: Double]
  public init(figures: [String: Double]) { self.figures = figures }
}

/// The number an app gave a request of its session; the reply carries it.
public struct RequestNumber: Hashable, Sendable {
  public let value: UInt64
  public init(_ value: UInt64) { self.value = value }
}

/// A session: what stays when a connection is lost and taken up again.
public struct SessionID: Hashable, Sendable {
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}
