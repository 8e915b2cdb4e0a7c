public import AppProtocol
public import CallModel
public import LedgerCore
public import SDPCore
public import SIPCore

/// What the engine wants done, in order.
///
/// Large facts are boxed, so that what is passed from room to room stays small.
public enum EngineEffect: Sendable {
  case app(SessionID, AppEvent)
  indirect case originated(OriginationID, Result<CallID, CallFailure>)
  /// An order was carried out; or why it was not, which changed nothing.
  indirect case ordered(CallOrderID, CallFailure?)
  /// A call that a trunk sent us exists now, though it may be refused in the same turn: how it stands, its INVITE's handle
  /// and SIP's Call-ID.
  indirect case arrived(CallSnapshot, CallHandle, sipCallID: String)
  /// Who pays for a call that a trunk sent us; answered with ``EngineInput/payerFound(_:_:)``.
  indirect case findPayer(CallHandle, environment: String, AccountName)
  /// The certificates that a signed caller names; answered with ``EngineInput/certificatesFound(_:_:)``, in time or not.
  indirect case findCertificates(CallHandle, [WebAddress])
  /// The devices of a user that a number leads to; answered with ``EngineInput/userFound(_:_:)``.
  indirect case findUser(CallID, application: String, UserID)
  /// Reserve ports and open a bridge, or give the one that the call has another leg over a trunk, which waits to be joined
  /// (``MediaOrder/join(_:)``); answered with ``EngineInput/prepared(_:_:)``. Undone by ``MediaOrder/close``.
  case prepare(CallID, MediaNeeds)
  case media(CallID, MediaOrder)
  /// What is to become of the recording of a conference; ``EngineInput/roomRecordingEnded(_:_:_:)`` says when it is over.
  indirect case recordRoom(RoomKey, RoomRecordingOrder)
  indirect case ledger(environment: String, LedgerStep, CallOperation)
  /// Lock an account in the ledger, by a rule of ``EngineConfiguration/Environment/velocity``; answered with
  /// ``EngineInput/lockAnswered(_:environment:isLocked:)``.
  case lock(AccountName, environment: String, reason: String)
  /// A rule was reached for the first time within its hour.
  case velocity(VelocityRule, environment: String)
  case sip(UserAgentCommand)
  /// The call as it stands now, for lists of live calls. The last one has the state `ended`.
  indirect case changed(CallSnapshot)
  /// The call is over and settled, or its settlement waits: keep its record.
  indirect case record(CallRecord)
  /// What an app measured of a call whose record is kept already.
  case statistics(CallID, environment: String, [String: Double])
  /// A trunk answered OPTIONS after so many microseconds; `nil` where it gave no answer.
  case pinged(trunk: String, microseconds: Int64?)
  case log(CallLogEntry)
}

/// The legs of a call that the gateway needs media for.
public struct MediaNeeds: Hashable, Sendable {
  /// Which of the gateway's ports the media of a leg uses.
  public enum Port: Hashable, Sendable {
    /// ICE, DTLS-SRTP on the shared port.
    case app
    /// The same, for devices of which only one will answer: one way is told for all, and no leg is opened before
    /// ``MediaOrder/attach(_:_:source:)``.
    case devices
    /// RTP or SRTP on ports of its own.
    case trunk
    /// The same, towards another call of this gateway: the way never leaves the host.
    case link
    /// The same for a telephone, whose signalling comes from this host: behind an address translation its sound does too,
    /// whatever its description says.
    case telephone(SIPHost)

    /// Whether the leg has ports of its own.
    public var isOwn: Bool {
      switch self {
      case .app, .devices: false
      case .trunk, .telephone, .link: true
      }
    }
  }
  /// A leg that is not named needs no way: the gateway itself speaks there.
  public var legs: [LegID: Port]
  /// The mixer's room that they will be in: all calls of one are worked on by the same thread.
  public var room: UInt64?

  public init(_ legs: [LegID: Port], room: UInt64? = nil) {
    self.legs = legs
    self.room = room
  }
}

/// What the engine asks of a call's media.
public enum MediaOrder: Sendable {
  indirect case plan(LegID, MediaPlan)
  /// A leg for a device that rings, with our credentials and our source (SSRC): it shakes hands, and neither hears nor is
  /// heard.
  case attach(LegID, ICECredentials, source: UInt32)
  /// A leg that is apart hears the others from now on, and is heard: it belongs to this side of the call. Nothing happens
  /// where it is joined already.
  case join(LegID, side: LegID)
  /// A leg hears the others no longer, nor is it heard, until ``join(_:side:)``.
  case part(LegID)
  /// The leg of a device that rings no longer.
  case detach(LegID)
  /// Our credentials of an ICE restart, before the plan that it leads to.
  case restartICE(LegID, ICECredentials)
  /// Press keys towards a leg.
  case sendDigits(LegID, String)
  /// What an app tells of the sound that a leg is sent.
  case adapt(LegID, ClientStatistics.Heard)
  /// Whether what comes from a leg is passed on. On hold, and at the second when the credit ends.
  case mute(LegID, Bool)
  /// Say something to a leg in place of the other leg's sound.
  case say(LegID, [Announcement])
  /// Ringing tone to a leg, until something else is asked.
  case ring(LegID)
  /// The tone of a call that waits, until something else is asked.
  case hold(LegID)
  case stopPlaying(LegID)
  /// Play the sound of this number to a leg in place of the other leg's sound.
  case play(LegID, sound: UInt64)
  /// Play the sound of this number to both legs beneath their talk; `nil` ends what is played so.
  case playBeneath(sound: UInt64?)
  /// Play the sound of this number to all who are in the mixer's room of that number, together with what they say; `nil` ends what
  /// is played.
  case playInRoom(UInt64, sound: UInt64?)
  /// Whether both legs hear the tone of a recording beneath their talk.
  case recordingTone(Bool)
  /// The same for all who are in the mixer's room of this number.
  case toneInRoom(UInt64, Bool)
  /// Whether the legs are in the mixer's room that is the call's own (``PreparedMedia/ownRoom``), which others can enter.
  case shareRoom(Bool)
  /// A leg hears and is heard in the mixer's room of this number, until its call ends. Whether a tone says that somebody
  /// comes or leaves holds for the room from then on; said again, it changes that alone.
  case enterRoom(LegID, UInt64, tones: Bool)
  /// Whether a leg hears nothing in its room.
  case deafen(LegID, Bool)
  /// Send a leg back what comes from it.
  case echo(LegID)
  /// Record both sides; ``MediaNotice/recordingEnded(_:_:)`` says when that is over.
  indirect case record(Recording)
  case pauseRecording(Bool)
  case endRecording
  /// Ends all and gives ports back.
  case close
}

/// What the engine asks of the recording of a conference. It ends with the mixer's room at the latest.
public enum RoomRecordingOrder: Hashable, Sendable {
  /// What is heard in the mixer's room of this number.
  case begin(Recording, room: UInt64)
  case pause(Bool)
  case end
}

/// What the gateway says itself.
public enum Announcement: String, Hashable, Sendable, CaseIterable {
  case connected, goodbye, pressZero
  /// That the call is recorded.
  case recorded
}

/// A line for the log of a call.
public struct CallLogEntry: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable { case debug, info, warning, error }
  public var level: Level
  /// `nil` for what concerns no single call.
  public var call: CallID?
  public var message: String
  public init(_ level: Level, call: CallID?, _ message: String) {
    self.level = level
    self.call = call
    self.message = message
  }
}

/// A live call as lists show it. Numbers are whole: masking is the reader's.
public struct CallSnapshot: Hashable, Sendable {
  /// The gateway's own id, not SIP's Call-ID (``CallRecord/sipCallID``).
  public var id: CallID
  /// The payer's environment: `production`, `sandbox`.
  public var environment: String
  /// The account that pays.
  public var account: AccountName
  /// Who calls, for a call that came in over a trunk; `nil` for one that was asked for here.
  public var from: CallerIdentity?
  /// Application key of the app that calls; `nil` for a call that was asked for over REST.
  public var application: String?
  /// User of the app that calls; `nil` for a call that was asked for over REST.
  public var user: UserID?
  /// Of the called side: of the second destination where two are joined.
  public var kind: Destination.Kind
  /// Canonical text of the called side: `+46701234567`, `112`, `alice@example.com`.
  public var destination: String
  /// Only moves forward.
  public var state: CallState
  /// When the call was asked for.
  public var startedAt: Instant
  /// When the called side answered; `nil` until then.
  public var answeredAt: Instant?
  /// Trunk of the latest INVITE; `nil` before the first, and where the gateway itself answers.
  public var trunk: String?
  /// Codec that is sent to the calling side; `nil` until one is agreed.
  public var nearCodec: String?
  /// Codec that is sent to the called side; `nil` until one is agreed, and where the gateway itself answers.
  public var farCodec: String?
  /// What is held for the call.
  public var heldMicro: MicroUnits
  /// The account's, in which ``heldMicro`` counts.
  public var currency: Currency
  /// The latest second; `nil` until sound was measured.
  public var quality: CallQuality?
  /// Why the call ended; `nil` while it goes on, and where nothing went wrong.
  public var failure: CallFailure?
  /// Sides that are heard by nobody, by an operator's word.
  public var muted: Set<CallSide> = []
  /// Sides that wait, by an operator's word.
  public var onHold: Set<CallSide> = []
  /// `nil` where it is not recorded.
  public var recording: RunningRecording?
  /// Calls by which others were brought in to the two, in the order of their ids.
  public var guests: [CallID] = []
  /// The call whose guest this one is; `nil` for any other.
  public var guestOf: CallID?
  /// The number of our own that a trunk brought it to; `nil` for calls that were asked for here.
  public var inboundNumber: E164Number?

  /// Of a call that has just been asked for: nothing is held, answered or measured yet.
  public init(
    id: CallID, environment: String, account: AccountName, application: String?, user: UserID?, kind: Destination.Kind,
    destination: String, state: CallState, startedAt: Instant, currency: Currency
  ) {
    self.id = id
    self.environment = environment
    self.account = account
    self.application = application
    self.user = user
    self.kind = kind
    self.destination = destination
    self.state = state
    self.startedAt = startedAt
    self.heldMicro = .zero
    self.currency = currency
  }
}

/// The record of a call that is over.
public struct CallRecord: Hashable, Sendable {
  /// As the call stood at its end.
  public var call: CallSnapshot
  /// Times, end, and the cost as far as it was known when the record was made.
  public var summary: CallSummary
  /// E.164 number of the caller, a withheld one too; `nil` where the application has none.
  public var callerNumber: String?
  /// Every INVITE with its outcome, those of the calling side first; empty where the gateway itself answered.
  public var attempts: [CallAttempt]
  /// SIP's Call-ID of the leg that was answered, or of the last attempt; finds the call in the trunk's traces.
  public var sipCallID: String?
  /// A few lines of what happened when, milliseconds since the start, for people.
  public var story: [StoryLine]
  /// What the app measured, by names of the W3C's WebRTC statistics; empty where it reported nothing.
  public var clientStatistics: [String: Double]
  /// Mean of the seconds.
  public var meanScoreNear: Double?
  /// Mean of the seconds, of sound from the called side; `nil` where none came.
  public var meanScoreFar: Double?
  /// What was odd.
  public var flags: [Flag]

  /// Something odd about a call, kept and shown as its word. A word of another version stays what it is.
  public struct Flag: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The word as it is kept and shown.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The word itself.
    public var description: String { rawValue }

    /// The call was answered, and not one packet of sound came from the calling side, though it was allowed to send.
    public static let noSoundFromCaller = Flag(rawValue: "noSoundFromCaller")
    /// The same of the called side.
    public static let noSoundFromCalled = Flag(rawValue: "noSoundFromCalled")
    /// An answer and our CANCEL crossed on the way.
    public static let cancelRace = Flag(rawValue: "cancelRace")
    /// An operator hung up.
    public static let endedByOperator = Flag(rawValue: "endedByOperator")
    /// Another node had taken the calls over.
    public static let fenced = Flag(rawValue: "fenced")
  }

  /// One line of ``CallRecord/story``.
  public struct StoryLine: Hashable, Sendable, Decodable {
    /// Since the call was asked for; never below 0.
    public var milliseconds: Int64
    /// Plain words; ``event`` says what they mean where somebody decides by them.
    public var text: String
    public init(milliseconds: Int64, text: String) {
      self.milliseconds = milliseconds
      self.text = text
    }
  }

  /// Most lines of a story.
  public static let maximumStoryLines = 200

  /// Attempts, story, statistics and flags are empty until they are set.
  public init(call: CallSnapshot, summary: CallSummary) {
    self.call = call
    self.summary = summary
    attempts = []
    story = []
    clientStatistics = [:]
    flags = []
  }
}
