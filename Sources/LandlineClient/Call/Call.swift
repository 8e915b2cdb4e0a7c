public import AppProtocol
public import CallModel
import Synchronization

/// One call. Its values may be read and its methods called from anywhere.
public final class Call: Sendable {
  /// Who called whom.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    case incoming, outgoing
  }

  /// Most keys of one ``sendDTMF(_:)``.
  public static let maximumKeys = 64
  /// From the gateway's answer until an app is told that sound has no way yet (``CallEvent/Kind/mediaBlocked(_:)``).
  public static let mediaPathMilliseconds: Int64 = 2_000
  /// So much longer where the gateway has relays: they are asked when the direct way has not been found.
  public static let relayMilliseconds: Int64 = 3_000
  /// Events kept for a stream that is taken late.
  static let keptEvents = 256

  private struct Facts {
    var id: CallID?
    var state = CallState.initiating
    var details: CallDetails
    var isOnHold = false
    var isHeld = false
    var quality: CallQuality?
    var members: [RoomMembers.Member] = []
    var participant: Int?
    var speakers: RoomSpeakers?
    var recording = RecordingState.off
    /// Hung up or declined: what was not told of it yet needs not be told.
    var isGivenUp = false
    var userInfo: (any Sendable)?
    var crossingCall: Call?
    weak var delegate: (any CallDelegate)?
  }

  /// Whom the call is with, canonical. Of an incoming call: who calls; empty where that is not told.
  public let remote: String
  /// What the caller's device calls itself, not verified; empty for none, and for a call that goes out.
  public let remoteName: String
  /// What ``remote`` is: a phone, a SIP address, a user or a conference.
  public let kind: Destination.Kind
  /// Who calls, and who stands for it; `nil` for a call that goes out.
  public let caller: CallerIdentity?
  /// The number of the gateway's that was called, for a call that came over a trunk; `nil` for any other.
  public let calledNumber: String?
  /// An incoming call has to be taken with ``answer()``.
  public let direction: Direction
  /// Those that the caller sent.
  public let headers: CustomHeaders
  /// The device was in another call when this one came in.
  public let isWaiting: Bool
  /// When an incoming call that nobody takes rings no longer, by the gateway's clock, unless the gateway lets it ring on;
  /// `nil` for a call that goes out.
  public let expiresAt: Instant?
  /// The sound of this call.
  public let audio: AudioController

  /// Names the call inside its client.
  let number: UInt64
  let run: ClientRun
  private let facts: Mutex<Facts>
  private let fan = EventFan<CallEvent>(keeping: Call.keptEvents)

  init(
    number: UInt64, remote: String, kind: Destination.Kind, direction: Direction, headers: CustomHeaders,
    startedAt: Instant, audio: AudioController, run: ClientRun
  ) {
    self.number = number
    self.remote = remote
    remoteName = ""
    self.kind = kind
    self.direction = direction
    caller = nil
    calledNumber = nil
    self.headers = headers
    isWaiting = false
    expiresAt = nil
    self.audio = audio
    self.run = run
    facts = Mutex(Facts(details: CallDetails(startedAt: startedAt)))
  }

  /// A call for the user.
  init(
    number: UInt64, id: CallID, _ invitation: Invitation, startedAt: Instant, applicationState: ApplicationState,
    run: ClientRun
  ) {
    self.number = number
    remote = invitation.from.value
    remoteName = invitation.from.name
    // A caller of a kind that this version does not know comes from the telephone network.
    kind = Destination.Kind(rawValue: invitation.from.kind.rawValue) ?? .phone
    direction = .incoming
    caller = invitation.from
    calledNumber = invitation.number
    headers = invitation.headers
    isWaiting = invitation.isWaiting
    expiresAt = invitation.expiresAt
    audio = AudioController()
    self.run = run
    var details = CallDetails(startedAt: startedAt)
    details.isVideoOffered = invitation.wantsVideo
    details.applicationStateWhenReceived = applicationState
    facts = Mutex(Facts(id: id, details: details))
  }

  /// The id of the user whom the call is with; `nil` where it is not with a user.
  public var remoteUserID: String? { kind == .user ? remote : nil }

  /// The gateway's name of the call; `nil` until the gateway has taken it.
  public var id: CallID? { facts.withLock { $0.id } }
  /// Only moves forward.
  public var state: CallState { facts.withLock { $0.state } }
  /// As known at this moment; complete once the call is over, see ``ended()``.
  public var details: CallDetails { facts.withLock { $0.details } }
  /// This side holds the call.
  public var isOnHold: Bool { facts.withLock { $0.isOnHold } }
  /// The other side holds the call.
  public var isHeld: Bool { facts.withLock { $0.isHeld } }
  /// The latest second; `nil` until one was told.
  public var quality: CallQuality? { facts.withLock { $0.quality } }
  /// All who are in the conference, this side included, in the order in which they came; empty in any other call.
  public var members: [RoomMembers.Member] { facts.withLock { $0.members } }
  /// This side's own number in the conference; `nil` before it is in, and in any other call.
  public var participant: Int? { facts.withLock { $0.participant } }
  /// Who speaks in the conference; `nil` before anything was told of it.
  public var speakers: RoomSpeakers? { facts.withLock { $0.speakers } }
  /// Whether what is said in the call, or in its conference, is recorded.
  public var recording: RecordingState { facts.withLock { $0.recording } }

  /// Held weakly.
  public var delegate: (any CallDelegate)? {
    get { facts.withLock { $0.delegate } }
    set { facts.withLock { $0.delegate = newValue } }
  }

  /// A stream of all events, the latest ``keptEvents`` of the past included; ends after ``CallEvent/Kind/ended(_:)``.
  public var events: AsyncStream<CallEvent> { fan.stream() }

  /// The details once the call is over.
  public func ended() async -> CallDetails {
    for await _ in events {}
    return details
  }

  /// Whatever the app wants to find at its call again; the library does not look at it.
  public var userInfo: (any Sendable)? {
    get { facts.withLock { $0.userInfo } }
    set { facts.withLock { $0.userInfo = newValue } }
  }

  /// Of a call that failed with ``CallFailureCode/crossed``: the call of the same user that comes in at the same moment and
  /// is to be answered in place of this one. `nil` for every other call, and where that one was over already.
  public var crossingCall: Call? { facts.withLock { $0.crossingCall } }

  // MARK: Deeds

  /// Takes an incoming call: ``CallEvent/Kind/answered`` tells that the gateway gave it to this device. Where another device
  /// was first or the caller is gone, the call ends instead, and its details say why.
  ///
  /// With the app in the background (``Client/applicationState``) the call rings on and is taken when the app is in front.
  /// A second answer changes nothing.
  /// - Throws: ``UsageError/notIncoming`` for a call that goes out, ``UsageError/callEnded``.
  public func answer() throws(UsageError) { try answer(with: CustomHeaders()) }

  /// Takes an incoming call and sends whoever called headers with the answer.
  /// - Parameter headers: Any SIP token as a name; 1024 bytes of names and values together.
  /// - Throws: As ``answer()``, and ``ArgumentError``.
  public func answer(headers: [String: String]) throws {
    // A dictionary has no order of its own; the wire has one.
    let checked = try ArgumentError.checked("headers") { () throws(InvalidValue) in
      try CustomHeaders(
        headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }, names: kind.headerNames)
    }
    try answer(with: checked)
  }

  private func answer(with headers: CustomHeaders) throws(UsageError) {
    guard direction == .incoming else { throw .notIncoming }
    try live()
    let (number, fields) = (number, headers.map { PlaceCall.Header(name: $0.name, value: $0.value) })
    run.perform { $0.answer(number, headers: fields) }
  }

  /// Declines an incoming call. One that was answered is hung up, and one that is over stays as it is.
  /// - Parameters:
  ///   - reason: What the caller is told.
  ///   - scope: ``DeclineScope/user``: it rings nowhere any more; ``DeclineScope/device``: the user's other devices ring on.
  /// - Throws: ``UsageError/notIncoming`` for a call that goes out.
  public func decline(reason: DeclineReason = .declined, scope: DeclineScope = .user) throws(UsageError) {
    guard direction == .incoming else { throw .notIncoming }
    facts.withLock { $0.isGivenUp = true }
    let number = number
    run.perform { $0.decline(number, scope, reason) }
  }

  /// Ends the call, or gives it up before it is answered. An incoming call that was not answered is declined on all devices
  /// of the user. A call that is over stays as it is.
  public func hangUp() {
    facts.withLock { $0.isGivenUp = true }
    let number = number
    run.perform { $0.hangUp(number) }
  }

  /// Presses keys towards the other side, one after the other.
  /// - Throws: ``ArgumentError`` with rules `keys.empty`, `keys.symbol`, `keys.long`; ``UsageError/callEnded``.
  public func sendDTMF(_ keys: String) throws {
    let checked = try ArgumentError.checked("keys") { () throws(InvalidValue) in try Call.checked(keys: keys) }
    try live()
    let number = number
    run.perform { $0.send(keys: checked, number) }
  }

  /// Puts the other side on hold: ``CallEvent/Kind/onHold(_:)`` tells when it is.
  public func hold() throws(UsageError) { try setHold(true) }

  /// Takes the other side back from hold.
  public func resume() throws(UsageError) { try setHold(false) }

  /// Puts the other side through to somebody else: ``CallEvent/Kind/transfer(_:)`` tells how it goes. Where nobody answers
  /// there, this side talks with the other one again.
  /// - Parameter consults: Whether this side talks with them first, while the other side waits, until
  ///   ``completeTransfer()`` or ``takeBack()``. Otherwise it is out of the call with their answer.
  /// - Throws: ``UsageError/callEnded``. A target that cannot be called comes as ``CallEvent/Kind/refused(_:)``.
  public func transfer(to kind: Destination.Kind, _ target: String, consults: Bool = false) throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.transfer(TransferOrder(kind: kind, target: target, consults: consults), number) }
  }

  /// Puts the other sides of two calls of this client through to each other, and leaves both.
  /// - Throws: ``UsageError/callEnded`` where one of them is over or has not begun.
  public func join(with other: Call) throws(UsageError) {
    try live()
    try other.live()
    guard let id = other.id else { throw .callEnded }
    let number = number
    run.perform { $0.join(number, with: id) }
  }

  /// Puts the other side through to whom this side has consulted, and leaves the call.
  public func completeTransfer() throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.completeTransfer(number) }
  }

  /// Gives a transfer up: this side talks with the other one again.
  public func takeBack() throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.takeBack(number) }
  }

  /// Has what is said in the call, or in the conference that it is in, recorded from now on, paused, or recorded no longer:
  /// ``CallEvent/Kind/recording(_:)`` tells all apps of the call. Where the application's apps may not, it comes as
  /// ``CallEvent/Kind/refused(_:)``.
  /// - Throws: ``UsageError/callEnded``.
  public func record(_ state: RecordingState) throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.record(state, number) }
  }

  /// What is told of a conference from now on: who is there and who speaks, which is told unasked, only who is there, or
  /// nothing. In any other call it comes as ``CallEvent/Kind/refused(_:)``.
  /// - Throws: ``UsageError/callEnded``.
  public func follow(_ watch: RoomWatch) throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.follow(watch, number) }
  }

  private func setHold(_ isOn: Bool) throws(UsageError) {
    try live()
    let number = number
    run.perform { $0.setHold(isOn, number) }
  }

  private func live() throws(UsageError) { guard state != .ended else { throw .callEnded } }

  /// Keys as they can be pressed: 0-9, *, #, A-D; small letters become capital ones.
  /// - Throws: ``InvalidValue`` with rules `keys.empty`, `keys.symbol`, `keys.long`.
  public static func checked(keys text: String) throws(InvalidValue) -> String {
    func refusal(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "keys", rule: "keys.\(rule)", offset: offset, problem: problem,
        accepted: "1 to \(maximumKeys) of 0 to 9, *, #, A to D")
    }
    guard !text.isEmpty else { throw refusal("empty", nil, "nothing is there") }
    guard text.utf8.count <= maximumKeys else { throw refusal("long", maximumKeys, "more than \(maximumKeys) keys") }
    let keys = text.uppercased()
    for (offset, byte) in keys.utf8.enumerated() where !"0123456789*#ABCD".utf8.contains(byte) {
      throw refusal("symbol", offset, "\(InvalidValue.name(of: byte)) is on no telephone")
    }
    return keys
  }

  // MARK: For the client

  /// The app wants nothing more of the call.
  var isGivenUp: Bool { facts.withLock { $0.isGivenUp } }

  func crosses(_ call: Call) { facts.withLock { $0.crossingCall = call } }

  /// Changes what is known; states only move forward.
  func note(_ change: (inout CallDetails) -> Void, state: CallState? = nil, id: CallID? = nil) {
    facts.withLock { facts in
      change(&facts.details)
      if let state, state > facts.state { facts.state = state }
      if let id { facts.id = id }
    }
  }

  func tell(_ event: CallEvent) {
    facts.withLock { facts in
      switch event.kind {
      case .held(let isHeld): facts.isHeld = isHeld
      case .onHold(let isOn): facts.isOnHold = isOn
      case .quality(let quality): facts.quality = quality
      case .members(let members):
        facts.members = members.applied(to: facts.members)
        facts.participant = members.own ?? facts.participant
      case .speakers(let speakers): facts.speakers = speakers
      case .recording(let state): facts.recording = state
      default: break
      }
    }
    fan.tell(event)
    let delegate = self.delegate
    delegate?.call(self, didReceive: event)
    switch event.kind {
    case .progressing: delegate?.callDidProgress(self)
    case .ringing: delegate?.callDidRing(self)
    case .answered: delegate?.callDidAnswer(self)
    case .established: delegate?.callDidEstablish(self)
    case .ended:
      fan.finish()
      delegate?.callDidEnd(self)
    default: break
    }
  }
}
