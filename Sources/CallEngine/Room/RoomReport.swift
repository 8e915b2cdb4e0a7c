public import AppProtocol
public import CallModel

/// How it was to hear a participant of a conference in the last second.
public struct ParticipantQuality: Hashable, Sendable {
  public var sound: CallQuality.Direction
  /// Milliseconds between the gateway and the participant; `nil` until a report came.
  public var roundTrip: Double?
  /// dBov: 0 is as loud as can be, -96 silence; `nil` where the mixer does not hear it.
  public var level: Int?

  package init(_ sound: CallQuality.Direction, roundTrip: Double?, level: Int?) {
    self.sound = sound
    self.roundTrip = roundTrip
    self.level = level
  }
}

/// A conference as operators see it. Numbers are whole.
public struct RoomReport: Hashable, Sendable {
  /// Somebody who takes part.
  public struct Participant: Hashable, Sendable {
    /// Counts from 1 in each conference.
    public var number: Int
    /// By which it takes part.
    public var call: CallID
    /// Who it is.
    public var from: CallerIdentity
    /// When it came in.
    public var since: Instant
    /// Its app says that it is muted.
    public var isMuted: Bool
    /// An operator has muted it: its app cannot change that.
    public var isSilenced: Bool
    /// It hears nothing, by an operator's word.
    public var isDeaf: Bool
    /// Whether it speaks at this moment.
    public var isSpeaking: Bool
    /// Of the last second; `nil` before the first.
    public var quality: ParticipantQuality?
    /// The last keys that it pressed, where ``RoomReport/keys`` is ``RoomKeys/detect``.
    public var keys = ""

    package init(
      number: Int, call: CallID, from: CallerIdentity, since: Instant, isMuted: Bool = false, isSilenced: Bool = false,
      isDeaf: Bool = false, isSpeaking: Bool = false, quality: ParticipantQuality? = nil
    ) {
      self.number = number
      self.call = call
      self.from = from
      self.since = since
      self.isMuted = isMuted
      self.isSilenced = isSilenced
      self.isDeaf = isDeaf
      self.isSpeaking = isSpeaking
      self.quality = quality
    }
  }

  public var key: RoomKey
  /// When the first call asked for it.
  public var since: Instant
  /// Whether only operators can add somebody.
  public var isLocked: Bool
  /// Whether a tone says that somebody comes in or leaves.
  public var hasTones: Bool
  /// What becomes of keys that are pressed in it.
  public var keys = RoomKeys.ignore
  /// The participant that leads the talk; `nil` before anybody has spoken.
  public var leads: Int?
  /// `nil` where it is not recorded.
  public var recording: RunningRecording?
  /// In the order in which they came; calls that wait for their media or still ring are not among them.
  public var participants: [Participant]

  package init(
    key: RoomKey, since: Instant, isLocked: Bool = false, hasTones: Bool = true, leads: Int? = nil,
    participants: [Participant] = []
  ) {
    self.key = key
    self.since = since
    self.isLocked = isLocked
    self.hasTones = hasTones
    self.leads = leads
    self.participants = participants
  }
}

/// What becomes of keys that somebody presses in a conference. None is heard in any case.
public enum RoomKeys: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case ignore
  /// They are pressed towards all others.
  case forward
  /// They stand in ``RoomReport/Participant/keys``.
  case detect
}

/// What an operator does to a conference.
public enum RoomOrder: Hashable, Sendable {
  /// From now on apps and callers are refused, or taken again.
  case lock(Bool)
  /// A tone says that somebody comes in or leaves, or no longer.
  case tones(Bool)
  /// What becomes of keys from now on.
  case keys(RoomKeys)
  /// A participant is heard by nobody, whatever its app says.
  case silence(participant: Int, Bool)
  /// A participant hears nothing.
  case deafen(participant: Int, Bool)
  /// A participant's call ends.
  case kick(participant: Int)
  /// What is heard in it is recorded, on behalf of an account.
  case record(RecordingOrder, for: AccountName)
  /// All hear a sound, together with what they say.
  case say(PreparedSound)
  /// What is said ends.
  case stopSaying
  /// All calls end.
  case end
}

extension RoomReport {
  /// Why an order cannot be carried out as the conference stands; `nil` where it can.
  public func refusal(of order: RoomOrder) -> CallFailure? {
    switch order {
    case .say where participants.isEmpty, .stopSaying where participants.isEmpty:
      return CallFailure(.saying, phrase: "nobody is in it yet", leg: .app)
    default: break
    }
    guard case .record(let order, _) = order else { return nil }
    return switch order {
    case .begin where recording != nil: CallFailure(.recording, phrase: "it is recorded already", leg: .app)
    case .begin where participants.isEmpty: CallFailure(.recording, phrase: "nobody is in it yet", leg: .app)
    case .pause, .end:
      recording == nil ? CallFailure(.recording, phrase: "it is not recorded", leg: .app) : nil
    case .begin: nil
    }
  }
}
