import AppProtocol
public import CallModel

/// Names a conference: the same id is another one in another application.
public struct RoomKey: Hashable, Sendable {
  /// `production`, `sandbox` or another name of the configuration.
  public let environment: String
  /// Key of the application.
  public let application: String
  public let conference: ConferenceID

  public init(environment: String, application: String, conference: ConferenceID) {
    self.environment = environment
    self.application = application
    self.conference = conference
  }
}

/// The port of a leg that stands for all others of a conference: it has no media of its own, the other leg of the call is
/// mixed with those of other calls.
struct RoomLeg {
  let key: RoomKey
  /// Of the mixer's room; `nil` until the call has its place there, unless it is another call's own.
  var number: UInt64?
  /// Whether whoever comes in is not heard until an operator says so.
  var beginsMuted = false
}

/// Which calls are in which conference, who takes part there, and what their apps are told of it.
///
/// ```
/// a call has a place ──answered──▶ takes part, and the others are told ──▶ left, and the others are told
/// ```
/// A conference is there from its first call to its last; whoever comes after that finds a new one. Whoever changes something
/// hands out ``drainNews()`` after it, and sets the timer of ``nextDeadline(_:)``.
final class RoomBook {
  /// Apps are told of changes at most this often.
  static let newsMilliseconds: Int64 = 250
  /// Keys that are kept of a participant, and that are passed on in a conference within a second.
  static let keptKeys = 32
  static let keysPerSecond = 10

  struct Limits {
    /// Of one conference.
    var participants: Int
    var conferences: Int
    /// How long somebody may be alone.
    var aloneMilliseconds: Int64
  }

  /// An app that takes part.
  struct Audience {
    let session: SessionID
    var watch: RoomWatch
    var isAbsent: Bool
    /// It was told of all who are there, and hears of changes alone.
    var knowsAll = false
  }

  /// A call that takes part.
  struct Participant {
    /// Counts from 1 in its conference.
    let number: Int
    let call: CallID
    let from: CallerIdentity
    let since: Instant
    /// Its app says that it is muted.
    var isMuted: Bool
    /// An operator has muted it.
    var isSilenced: Bool
    /// It hears nothing.
    var isDeaf = false
    var quality: ParticipantQuality?
    /// The last ones that it pressed.
    var keys = ""
    /// `nil` where no app takes part.
    var audience: Audience?
  }

  private final class Room {
    /// Of the mixer's room: that of a conference which begins anew is another one.
    let number: UInt64
    let since: Instant
    let aloneMilliseconds: Int64
    /// With a place, whether or not they take part yet.
    var calls: Set<CallID> = []
    var participants: [CallID: Participant] = [:]
    var lastParticipant = 0
    var isLocked = false
    var hasTones = true
    var keys = RoomKeys.ignore
    /// Of the last second in which keys were passed on: when it began, and how many there were.
    var passedKeys: (since: MonotonicInstant, count: Int)?
    /// Set while one takes part alone.
    var aloneUntil: MonotonicInstant?
    /// Participants that speak, in the order in which they began.
    var speaking: [Int] = []
    var leads: Int?
    var recording: RunningRecording?
    // What apps were not told yet.
    var changed: Set<Int> = []
    var left: [Int] = []
    var speakersChanged = false
    var toldAt: MonotonicInstant?
    var newsAt: MonotonicInstant?

    init(_ number: UInt64, since: Instant, aloneMilliseconds: Int64) {
      self.number = number
      self.since = since
      self.aloneMilliseconds = aloneMilliseconds
    }

    /// In the order in which they came.
    var inOrder: [Participant] { participants.values.sorted { $0.number < $1.number } }
  }

  private var rooms: [RoomKey: Room] = [:]
  private var lastNumber: UInt64 = 0
  private var news: [(session: SessionID, event: AppEvent)] = []

  // MARK: Calls

  /// A call gets a place, before anything is prepared for it.
  /// - Parameters:
  ///   - isInvited: Whether an operator adds it: a lock is for all others.
  ///   - number: Of the mixer's room, where that is there already.
  /// - Returns: the number of the mixer's room.
  /// - Throws: `gw.roomLocked`; `gw.roomFull` where the conference has as many participants as it may have; `gw.limit`
  ///   where there are too many conferences.
  func reserve(
    _ key: RoomKey, _ call: CallID, isInvited: Bool, number: UInt64?, _ limits: Limits, clock: Instant
  ) throws(CallFailure) -> UInt64 {
    guard let room = rooms[key] else {
      guard rooms.count < limits.conferences else {
        throw CallFailure(
          .limit, refusal: .concurrencyCap, sipStatus: 503, phrase: "conferences of the gateway", leg: .app)
      }
      if number == nil { lastNumber += 1 }
      let room = Room(number ?? lastNumber, since: clock, aloneMilliseconds: limits.aloneMilliseconds)
      room.calls = [call]
      rooms[key] = room
      return room.number
    }
    guard isInvited || !room.isLocked else { throw CallFailure(.roomLocked, leg: .app) }
    guard room.calls.count < limits.participants else {
      throw CallFailure(.roomFull, phrase: "\(limits.participants) participants are in it", leg: .app)
    }
    room.calls.insert(call)
    return room.number
  }

  /// A call that has a place takes part from now on.
  func enter(
    _ key: RoomKey, _ call: CallID, from: CallerIdentity, isMuted: Bool, isSilenced: Bool, _ audience: Audience?,
    at now: MonotonicInstant, clock: Instant
  ) {
    guard let room = rooms[key], room.calls.contains(call), room.participants[call] == nil else { return }
    room.lastParticipant += 1
    room.participants[call] = Participant(
      number: room.lastParticipant, call: call, from: from, since: clock, isMuted: isMuted, isSilenced: isSilenced,
      audience: audience)
    room.changed.insert(room.lastParticipant)
    countChanged(room, now)
    tellWhenDue(room, now)
  }

  /// A call gives its place back; nothing happens where it has none.
  func leave(_ key: RoomKey, _ call: CallID, at now: MonotonicInstant) {
    guard let room = rooms[key], room.calls.remove(call) != nil else { return }
    guard !room.calls.isEmpty else {
      rooms[key] = nil
      return
    }
    guard let gone = room.participants.removeValue(forKey: call) else { return }
    room.changed.remove(gone.number)
    room.left.append(gone.number)
    if room.speaking.contains(gone.number) || room.leads == gone.number { room.speakersChanged = true }
    room.speaking.removeAll { $0 == gone.number }
    if room.leads == gone.number { room.leads = nil }
    countChanged(room, now)
    tellWhenDue(room, now)
  }

  private func countChanged(_ room: Room, _ now: MonotonicInstant) {
    if room.participants.count != 1 {
      room.aloneUntil = nil
    } else if room.aloneUntil == nil {
      room.aloneUntil = now.advanced(byMilliseconds: room.aloneMilliseconds)
    }
  }

  // MARK: What changes

  /// Something that all apps are told of a participant.
  func change(_ key: RoomKey, _ call: CallID, at now: MonotonicInstant, _ change: (inout Participant) -> Void) {
    guard let room = rooms[key], var participant = room.participants[call] else { return }
    change(&participant)
    room.participants[call] = participant
    room.changed.insert(participant.number)
    tellWhenDue(room, now)
  }

  /// What came from a participant in the last second: nobody is told before somebody asks.
  func measured(_ key: RoomKey, _ call: CallID, _ quality: ParticipantQuality) {
    rooms[key]?.participants[call]?.quality = quality
  }

  /// What an app wants to hear from now on, or that its connection is lost or there again: it is told of all anew.
  func follow(_ key: RoomKey, _ call: CallID, _ audience: Audience, at now: MonotonicInstant) {
    guard let room = rooms[key], room.participants[call] != nil else { return }
    room.participants[call]?.audience = audience
    tellWhenDue(room, now)
  }

  func spoke(_ key: RoomKey, _ call: CallID, _ isSpeaking: Bool, at now: MonotonicInstant) {
    guard let room = rooms[key], let number = room.participants[call]?.number,
      isSpeaking != room.speaking.contains(number)
    else { return }
    if isSpeaking { room.speaking.append(number) } else { room.speaking.removeAll { $0 == number } }
    room.speakersChanged = true
    tellWhenDue(room, now)
  }

  func leadsTalk(_ key: RoomKey, _ call: CallID, at now: MonotonicInstant) {
    guard let room = rooms[key], let number = room.participants[call]?.number, room.leads != number else { return }
    room.leads = number
    room.speakersChanged = true
    tellWhenDue(room, now)
  }

  /// - Returns: Whether there is such a conference.
  func lock(_ key: RoomKey, _ isLocked: Bool) -> Bool {
    rooms[key]?.isLocked = isLocked
    return rooms[key] != nil
  }

  /// - Returns: a call that takes part, and can tell the mixer.
  func setTones(_ key: RoomKey, _ hasTones: Bool) -> CallID? {
    rooms[key]?.hasTones = hasTones
    return firstParticipant(key)
  }

  func setKeys(_ key: RoomKey, _ keys: RoomKeys) { rooms[key]?.keys = keys }

  /// A participant pressed a key.
  /// - Returns: the calls of all to whom it is passed on.
  func pressed(_ key: RoomKey, _ call: CallID, _ digit: Character, at now: MonotonicInstant) -> [CallID] {
    guard let room = rooms[key], room.participants[call] != nil else { return [] }
    switch room.keys {
    case .ignore: return []
    case .detect:
      let keys = (room.participants[call]?.keys ?? "") + String(digit)
      room.participants[call]?.keys = String(keys.suffix(RoomBook.keptKeys))
      return []
    case .forward:
      // One app with a finger on its keys is not to be multiplied by all who are there.
      var passed = room.passedKeys ?? (now, 0)
      if now.microseconds(since: passed.since) >= 1_000_000 { passed = (now, 0) }
      passed.count += 1
      room.passedKeys = passed
      guard passed.count <= RoomBook.keysPerSecond else { return [] }
      return room.participants.keys.filter { $0 != call }.sorted()
    }
  }

  /// A call that takes part, and can tell the mixer something.
  func firstParticipant(_ key: RoomKey) -> CallID? { rooms[key]?.participants.keys.min() }

  /// What becomes of its recording.
  /// - Returns: the number of the mixer's room; `nil` where there is no such conference.
  func record(_ key: RoomKey, _ change: (inout RunningRecording?) -> Void) -> UInt64? {
    guard let room = rooms[key] else { return nil }
    change(&room.recording)
    return room.number
  }

  func hasTones(_ key: RoomKey) -> Bool { rooms[key]?.hasTones ?? true }

  // MARK: What apps are told

  /// What apps are to hear since it was asked last.
  func drainNews() -> [(session: SessionID, event: AppEvent)] {
    guard !news.isEmpty else { return [] }
    defer { news.removeAll(keepingCapacity: true) }
    return news
  }

  /// When ``advance(_:at:)`` is due.
  func nextDeadline(_ key: RoomKey) -> MonotonicInstant? {
    guard let room = rooms[key] else { return nil }
    return [room.newsAt, room.aloneUntil].compactMap(\.self).min()
  }

  /// Does what is due.
  /// - Returns: the call whose participant has been alone for too long.
  func advance(_ key: RoomKey, at now: MonotonicInstant) -> CallID? {
    guard let room = rooms[key] else { return nil }
    if let newsAt = room.newsAt, newsAt <= now { tellNews(room, now) }
    guard let until = room.aloneUntil, until <= now else { return nil }
    room.aloneUntil = nil
    return room.participants.keys.first
  }

  /// Tells at once what is new, or when its turn comes.
  private func tellWhenDue(_ room: Room, _ now: MonotonicInstant) {
    guard room.newsAt == nil else { return }
    let next = room.toldAt?.advanced(byMilliseconds: RoomBook.newsMilliseconds) ?? now
    if next <= now { tellNews(room, now) } else { room.newsAt = next }
  }

  private func tellNews(_ room: Room, _ now: MonotonicInstant) {
    room.newsAt = nil
    room.toldAt = now
    let participants = room.inOrder
    let all = participants.map(\.member)
    let changed = all.filter { room.changed.contains($0.participant) }
    let speakers = RoomSpeakers(Array(room.speaking.suffix(RoomSpeakers.maximum)), leads: room.leads)
    for participant in participants {
      guard let audience = participant.audience, audience.watch != .none, !audience.isAbsent else { continue }
      if !audience.knowsAll {
        room.participants[participant.call]?.audience?.knowsAll = true
        addNews(all, own: participant.number, participant.call, audience.session)
      } else if !changed.isEmpty || !room.left.isEmpty {
        addNews(changed, left: room.left, participant.call, audience.session)
      }
      if audience.watch == .speakers, room.speakersChanged || !audience.knowsAll {
        news.append((audience.session, .speakers(participant.call, speakers)))
      }
    }
    room.changed = []
    room.left = []
    room.speakersChanged = false
  }

  /// In as many messages as it takes.
  private func addNews(
    _ members: [RoomMembers.Member], left: [Int] = [], own: Int? = nil, _ call: CallID, _ session: SessionID
  ) {
    var rest = members[...]
    var message = RoomMembers(Array(rest.prefix(RoomMembers.maximumMembers)), left: left, own: own)
    while true {
      news.append((session, .members(call, message)))
      rest = rest.dropFirst(RoomMembers.maximumMembers)
      guard !rest.isEmpty else { return }
      message = RoomMembers(Array(rest.prefix(RoomMembers.maximumMembers)))
    }
  }

  // MARK: What operators see

  /// Every conference that is there.
  var keys: [RoomKey] { Array(rooms.keys) }

  /// `nil` where there is no such conference.
  func report(_ key: RoomKey) -> RoomReport? {
    rooms[key].map { room in
      var report = RoomReport(
        key: key, since: room.since, isLocked: room.isLocked, hasTones: room.hasTones, leads: room.leads,
        participants: room.inOrder.map {
          var participant = RoomReport.Participant(
            number: $0.number, call: $0.call, from: $0.from, since: $0.since, isMuted: $0.isMuted,
            isSilenced: $0.isSilenced, isDeaf: $0.isDeaf, isSpeaking: room.speaking.contains($0.number),
            quality: $0.quality)
          participant.keys = $0.keys
          return participant
        })
      report.keys = room.keys
      report.recording = room.recording
      return report
    }
  }

  /// Of every call that has a place.
  func calls(_ key: RoomKey) -> [CallID] { rooms[key]?.calls.sorted() ?? [] }

  func call(_ key: RoomKey, participant: Int) -> CallID? {
    rooms[key]?.participants.values.first { $0.number == participant }?.call
  }
}

extension RoomBook.Participant {
  /// As other participants see it.
  fileprivate var member: RoomMembers.Member {
    RoomMembers.Member(participant: number, from: from.shownToApps, isMuted: isMuted || isSilenced, since: since)
  }
}

extension CallerIdentity {
  /// Without what would let strangers call back: of numbers some digits, of addresses the host.
  fileprivate var shownToApps: CallerIdentity {
    var shown = self
    shown.why = nil
    shown.divertedBy = nil
    switch kind {
    case .user: break
    case .phone: shown.value = number?.masked ?? ""
    default: shown.value = value.lastIndex(of: "@").map { String(value[$0...]) } ?? ""
    }
    return shown
  }
}
