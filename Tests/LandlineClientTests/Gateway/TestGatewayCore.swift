import AppProtocol
import CallModel
import NIOCore
import NIOWebSocket
import SDPCore

/// The door and the script, on the test gateway's loop.
final class TestGatewayCore {
  struct ScriptedCall {
    let session: SessionID
    let startedAt: Instant
    var media: GatewayMedia?
    var isAnswered = false
  }

  let eventLoop: any EventLoop
  private let verdict: @Sendable (Registration) -> RegistrationVerdict
  private let requests: AsyncStream<AppRequest>.Continuation
  private let door: AppDoor
  private var channels: [ConnectionID: any Channel] = [:]
  private var lastConnection: UInt64 = 0
  var calls: [CallID: ScriptedCall] = [:]
  var lastCall = 0
  var guests: [SessionID: Guest] = [:]
  var invited: [CallID: InvitedCall] = [:]
  private(set) var registrations: [Registration] = []
  private(set) var endedSessions = 0

  init(
    _ eventLoop: any EventLoop, _ verdict: @escaping @Sendable (Registration) -> RegistrationVerdict,
    _ requests: AsyncStream<AppRequest>.Continuation, resumeMilliseconds: Int64
  ) {
    self.eventLoop = eventLoop
    self.verdict = verdict
    self.requests = requests
    var configuration = AppDoor.Configuration(version: "test")
    configuration.resumeMilliseconds = resumeMilliseconds
    door = AppDoor(configuration, draw: { UInt64.random(in: 0...(.max)) })
  }

  var connectionCount: Int { channels.count }
  var sessionCount: Int { door.sessionCount }
  var loudest: Int16 { calls.values.compactMap { $0.media?.loudest }.max() ?? 0 }
  var restarts: Int { calls.values.reduce(0) { $0 + ($1.media?.restarts ?? 0) } }
  var directions: [MediaDirection] { calls.values.compactMap { $0.media?.direction } }

  private var now: MonotonicInstant {
    MonotonicInstant(microseconds: Int64(NIODeadline.now().uptimeNanoseconds / 1000))
  }
  let clock = Instant(milliseconds: 1_795_000_000_000)

  // MARK: Connections

  func opened(_ channel: any Channel) -> ConnectionID {
    lastConnection += 1
    let id = ConnectionID(lastConnection)
    channels[id] = channel
    feed(.opened(id, host: .ipv4(0x7F00_0001)))
    return id
  }

  func closed(_ id: ConnectionID) {
    channels[id] = nil
    feed(.closed(id))
  }

  func cutConnections() { for channel in channels.values { channel.close(promise: nil) } }

  func close() {
    for call in calls.values { call.media?.close() }
    calls = [:]
    for call in invited.values { for media in call.media.values { media.close() } }
    invited = [:]
    cutConnections()
    requests.finish()
  }

  func feed(_ input: AppDoorInput) {
    var effects: [AppDoorEffect] = []
    door.handle(input, at: now, clock: clock, into: &effects)
    for effect in effects { perform(effect) }
  }

  private func perform(_ effect: AppDoorEffect) {
    switch effect {
    case .send(let id, let bytes):
      guard let channel = channels[id] else { return }
      channel.writeAndFlush(
        WebSocketFrame(fin: true, opcode: .text, data: channel.allocator.buffer(bytes: bytes)), promise: nil)
    case .ping(let id):
      channels[id]?.writeAndFlush(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()), promise: nil)
    case .close(let id, let code, _):
      guard let channel = channels[id] else { return }
      var data = ByteBuffer()
      data.writeInteger(code)
      channel.writeAndFlush(WebSocketFrame(fin: true, opcode: .connectionClose, data: data)).whenComplete { _ in
        channel.close(promise: nil)
      }
    case .verify(let id, let registration, _):
      registrations.append(registration)
      feed(.verified(id, verdict(registration)))
    case .request(let session, let number, let request):
      requests.yield(request)
      answer(request, number, session)
    case .opened(let session, let identity, let profile):
      guests[session] = Guest(device: identity.device, isListening: profile.isListening)
    case .listening(let session, let isOn): guests[session]?.isListening = isOn
    case .ended(let session):
      endedSessions += 1
      guests[session] = nil
    case .absent, .resumed: break
    }
  }

  // MARK: Script

  private func answer(_ request: AppRequest, _ number: RequestNumber, _ session: SessionID) {
    func tell(_ event: AppEvent) { feed(.event(session, event)) }
    switch request {
    case .call(let placing) where placing.kind == .user: cross(placing, number, session)
    case .call(let placing): place(placing, number, session)
    case .alert(let id, let offer): alert(id, offer, number, session)
    case .accept(let id, let offer, _): accept(id, offer, number, session)
    case .decline(let id, let scope, _):
      tell(.done(number))
      decline(id, scope, session)
    case .listen: break
    case .hangUp(let id) where calls[id] == nil:
      tell(.done(number))
      decline(id, .user, session)
    case .hangUp(let id):
      tell(.done(number))
      end(id, calls[id]?.isAnswered == true ? .hungUp : .canceled, nil)
    case .sendDigits(let id, let keys):
      tell(.done(number))
      for key in keys { tell(.digit(id, key, milliseconds: 100)) }
    case .offer(let id, let offer):
      guard let answer = try? calls[id]?.media?.answer(offer) else {
        return tell(.refused(number, CallFailure(.media)))
      }
      tell(.answered(number, id, answer))
    case .answer, .mute, .report: tell(.done(number))
    case .record(let id, let state):
      tell(.done(number))
      tell(.recording(id, state))
    case .room(let id, _):
      func member(_ participant: Int, _ user: String, muted: Bool = false) -> RoomMembers.Member {
        RoomMembers.Member(
          participant: participant, from: CallerIdentity(kind: .user, value: user, name: ""), isMuted: muted,
          since: clock)
      }
      tell(.done(number))
      tell(.members(id, RoomMembers([member(1, "bob"), member(3, "alice")], own: 3)))
      tell(.members(id, RoomMembers([member(4, "carol"), member(3, "alice", muted: true)], left: [1])))
      tell(.speakers(id, RoomSpeakers([4], leads: 4)))
    case .transfer(let id, let order) where order.target == "nobody":
      tell(.done(number))
      tell(.transfer(id, TransferProgress(.failed, to: order.kind, order.target, CallFailure(.userUnreachable))))
    case .transfer(let id, let order):
      tell(.done(number))
      tell(.transfer(id, TransferProgress(.ringing, to: order.kind, order.target)))
      if order.consults { return tell(.transfer(id, TransferProgress(.answered, to: order.kind, order.target))) }
      tell(.transfer(id, TransferProgress(.completed, to: order.kind, order.target)))
      end(id, .transferred, nil)
    case .completeTransfer(let id):
      tell(.done(number))
      end(id, .transferred, nil)
    case .join(let id, let other):
      tell(.done(number))
      for call in [id, other] { end(call, .transferred, nil) }
    case .takeBack(let id):
      tell(.done(number))
      tell(.transfer(id, TransferProgress(.takenBack, to: .phone, "+46701234567")))
    }
  }

  private func place(_ placing: PlaceCall, _ number: RequestNumber, _ session: SessionID) {
    if placing.target == "+46000000402" {
      return feed(.event(session, .refused(number, CallFailure(.insufficientCredit))))
    }
    // A gateway that does not answer.
    if placing.target == "+46000000408" { return }
    lastCall += 1
    let id = CallID(unchecked: "call-\(lastCall)")
    GatewayMedia.open(on: eventLoop).assumeIsolated().whenSuccess { media in
      let media = media.value
      self.calls[id] = ScriptedCall(session: session, startedAt: self.clock, media: media)
      func tell(_ event: AppEvent) { self.feed(.event(session, event)) }
      // A firewall stands before its media port.
      media.isDeaf = placing.target == "+46000000666"
      guard let answer = try? media.answer(placing.offer) else {
        return tell(.refused(number, CallFailure(.media)))
      }
      tell(.placed(number, id, answer: answer))
      tell(.progressing(id, headers: CustomHeaders()))
      switch placing.target {
      case "+46000000486":
        self.end(id, .denied, CallFailure(.busy, sipStatus: 486, phrase: "Busy Here", trunk: "far-end", leg: .trunk))
      case "+46000000180": tell(.ringing(id, headers: CustomHeaders()))
      default:
        tell(
          .price(
            id,
            CallPrice(
              currency: "EUR", ratePerMinuteNano: 15_000_000, connectionFeeMicro: 0, initialSeconds: 1,
              incrementSeconds: 1, secondsAvailable: 600)))
        tell(.ringing(id, headers: CustomHeaders()))
        self.calls[id]?.isAnswered = true
        tell(.accepted(id, headers: CustomHeaders()))
        tell(.established(id))
        if ["+46000000200", "+46000000000"].contains(placing.target) { self.end(id, .hungUp, nil) }
      }
    }
  }

  private func end(_ id: CallID, _ cause: CallEndCause, _ failure: CallFailure?) {
    guard let call = calls.removeValue(forKey: id) else { return }
    call.media?.close()
    var summary = CallSummary(
      startedAt: call.startedAt, endedAt: clock, cause: cause, failure: failure, currency: "EUR")
    if call.isAnswered {
      summary.answeredAt = clock
      summary.costMicro = 1_250
      summary.billedSeconds = 5
      summary.durationMilliseconds = 4_800
    }
    feed(.event(call.session, .ended(id, summary)))
  }
}
