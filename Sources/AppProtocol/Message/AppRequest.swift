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
  /// Whether calls for the user ring on this device from now on.
  case listen(Bool)
  /// The app rings for a call of which ``AppEvent/incoming(_:_:)`` told. With an offer, which is answered with
  /// ``AppEvent/answered(_:_:_:)``, ICE and DTLS finish before somebody accepts.
  case alert(CallID, offer: String?)
  /// Somebody takes the call; with an offer, unless ``alert(_:offer:)`` had one. The headers go to whoever calls.
  case accept(CallID, offer: String?, headers: [PlaceCall.Header])
  /// Nobody takes the call: on no device of the user, or on this one.
  case decline(CallID, DeclineScope, DeclineReason)
  /// Puts the other side through to somebody else. The app hears how it goes (``AppEvent/transfer(_:_:)``).
  indirect case transfer(CallID, TransferOrder)
  /// Puts the other side of one call through to the other side of another, and leaves both.
  case join(CallID, with: CallID)
  /// The app has talked to whom the call is transferred to, and leaves.
  case completeTransfer(CallID)
  /// The transfer is given up, and the app talks with the other side again.
  case takeBack(CallID)
  /// What the app measured at the end of a call or in between.
  case report(CallID, ClientStatistics)
  /// What is said in the call, or in the conference that it is in, is recorded from now on, paused, or recorded no longer.
  /// The form is the application's.
  case record(CallID, RecordingState)
  /// What the app wants to be told of the conference that it is in; whoever wants anything is told of all who are there.
  case room(CallID, RoomWatch)
}

/// Whom a call is to be transferred to. Texts are as the app wrote them.
public struct TransferOrder: Hashable, Sendable {
  /// Which rules ``target`` is read by.
  public var kind: Destination.Kind
  /// A phone number in E.164, a SIP address or a user's id.
  public var target: String
  /// Whether the app talks with them first, while the other side waits; otherwise it is out of the call with their answer.
  public var consults: Bool
  public init(kind: Destination.Kind, target: String, consults: Bool = false) {
    self.kind = kind
    self.target = target
    self.consults = consults
  }
}

/// Whether what is said is recorded.
public enum RecordingState: String, Hashable, Sendable, CaseIterable {
  case on, off
  /// It is recorded, but silence takes the place of what is said, as for the number of a card.
  case paused
}

/// Where a call that is declined rings no longer.
public enum DeclineScope: String, Hashable, Sendable, CaseIterable {
  /// Nowhere: the call is over.
  case user
  /// On this device; others ring on.
  case device
}

/// Why a call is declined.
public enum DeclineReason: String, Hashable, Sendable, CaseIterable {
  case declined, busy
}

/// The request for a call. Texts are as the app wrote them: the engine checks them and names what is wrong.
public struct PlaceCall: Hashable, Sendable {
  /// One header for the other side, as the app wrote it.
  public struct Header: Hashable, Sendable {
    /// Must begin with `x-` for calls to phones and SIP addresses; any SIP token for others.
    public var name: String
    /// Must be UTF-8 without control characters, and without a space at either end.
    public var value: String
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Which rules ``target`` is read by.
  public var kind: Destination.Kind
  /// A phone number in E.164, an emergency code, a SIP address, a user's or a conference's id.
  public var target: String
  /// Sent to the other side; names that are the same in upper and lower case are refused.
  public var headers: [Header]
  /// The app's session description.
  public var offer: String
  /// The number to show, E.164; `nil` for the application's own.
  public var callerNumber: String?
  /// Whether the number is withheld from the callee (RFC 3323).
  public var isAnonymous: Bool
  /// Whether the app offers video. The called user's devices are told; the gateway carries none, and refuses it with
  /// `capability.remote` to anybody but a user.
  public var wantsVideo: Bool

  /// Without `callerNumber` the application's first number is shown.
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
  /// What the network did lately to the sound that the app is sent. Browsers report it by RTCP only every five seconds, too
  /// seldom for a link that has become thin; what stands here decides at once how much the app is sent.
  public var heard: Heard?

  /// A report with more than ``maximumFigures`` is refused where the gateway reads it.
  public init(figures: [String: Double], heard: Heard? = nil) {
    self.figures = figures
    self.heard = heard
  }

  /// Of about a second.
  public struct Heard: Hashable, Sendable {
    /// Milliseconds: a longer round trip is refused.
    public static let maximumRoundTrip = 30_000.0
    /// Part of the packets of that second that did not come, 0 to 1.
    public var loss: Double
    /// Milliseconds to the gateway and back over the path of the sound, where it was measured in that second.
    public var roundTrip: Double?
    /// Values outside of the ranges are refused where the gateway reads them.
    public init(loss: Double, roundTrip: Double? = nil) {
      self.loss = loss
      self.roundTrip = roundTrip
    }
  }
}

/// The number an app gave a request of its session; the reply carries it.
public struct RequestNumber: Hashable, Sendable {
  /// Higher than all before it in the session; the gateway takes each number once.
  public let value: UInt64
  public init(_ value: UInt64) { self.value = value }
}

/// A session: what stays when a connection is lost and taken up again.
public struct SessionID: Hashable, Sendable {
  /// Counted up by the door, from 1. Apps know the session by its public name instead.
  public let number: UInt64
  public init(_ number: UInt64) { self.number = number }
}
