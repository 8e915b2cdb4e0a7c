import AppProtocol
import CallModel
import MediaCore
import NIOCore
import SDPCore
import SecureTransport

/// One call on the client's loop: what it asked, its media, and what it tells its ``Call``.
final class CallCore {
  /// What a reply of the gateway answers.
  enum Request {
    case place, alert, accept, decline, hangUp, keys, offer, answer, mute, report, transfer, follow, record
  }

  /// How long the gateway may take to end a call that was hung up.
  static let hangUpMilliseconds: Int64 = 5_000

  let call: Call
  unowned let client: ClientCore
  let media: MediaSession
  private let startedAt: MonotonicInstant
  private(set) var id: CallID?
  /// The gateway has answered an offer.
  var isPlaced = false
  var wantsHangUp = false
  private(set) var isOver = false
  /// Of a call that comes in.
  var incoming = Incoming()
  /// The app was told of a call that comes in, or is about to be.
  var isShown = false
  /// The call that comes in from the user whom this one is for.
  private(set) var crossingID: CallID?
  /// What was asked of ``setHold(_:)``, and what both sides agreed on.
  private var wantsHold = false
  private var holds = false
  private var offerOnItsWay: RequestNumber?
  private var wantsRestart = false
  private var latest: MediaStatistics?
  private var hangUpLimit: Scheduled<Void>?
  /// Sound has had its way; what is lost later was there before.
  private var wasSecured = false
  private var mediaPathLimit: Scheduled<Void>?

  /// A call that comes in.
  convenience init(incoming call: Call, _ id: CallID, _ client: ClientCore) {
    self.init(call, client)
    self.id = id
  }

  init(_ call: Call, _ client: ClientCore) {
    self.call = call
    self.client = client
    startedAt = Clock.now
    let relay = MediaRelay()
    media = MediaSession(
      on: client.eventLoop, certificate: client.certificate, outbox: client.outbox, audio: [call.audio, client.audio],
      track: { [weak client] in client?.track($0) }, relayTerms: { [weak client] in client?.relayTerms },
      { relay.call?.took($0) })
    relay.call = self
  }

  /// Breaks the circle between a call and its media.
  private final class MediaRelay {
    weak var call: CallCore?
  }

  func tell(_ kind: CallEvent.Kind) {
    call.tell(CallEvent(kind, at: Clock.wall, milliseconds: Clock.now.milliseconds(since: startedAt)))
  }

  // MARK: Beginning

  /// Opens the media from the address that reaches the gateway, then asks for the call.
  func begin(_ placing: PlaceCall, from host: MediaAddress) {
    media.open(from: host).assumeIsolated().whenComplete { result in
      guard !self.isOver else { return }
      if self.wantsHangUp { return self.finish(.canceled, nil) }
      do {
        try result.get()
        var placing = placing
        placing.offer = try self.media.offer()
        guard self.client.send(.call(placing), for: self, .place) != nil else {
          return self.finish(.error, CallFailure(.networkLost))
        }
      } catch {
        self.finish(.error, CallFailure(.internal, phrase: "no offer of media could be made: \(error)"))
      }
    }
  }

  // MARK: Deeds of the app

  func hangUp() {
    guard !isOver, !wantsHangUp else { return }
    if isRinging { return decline(.user, .declined) }
    wantsHangUp = true
    if crossingID != nil { return finish(.canceled, nil) }
    guard isPlaced || call.direction == .incoming else { return }
    sendHangUp()
  }

  /// The client stops: its user's other devices go on ringing.
  func leave() { if isRinging { finish(.canceled, nil) } else { hangUp() } }

  private func sendHangUp() {
    report()
    guard let id, client.send(.hangUp(id), for: self, .hangUp) != nil else { return finish(causeOfHangUp, nil) }
    awaitEnd()
  }

  /// The gateway tells how the call ended, in time.
  func awaitEnd(_ failure: CallFailure? = nil) {
    let limit = TimeAmount.milliseconds(CallCore.hangUpMilliseconds)
    hangUpLimit?.cancel()
    hangUpLimit = client.eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
      guard let self else { return }
      self.finish(failure?.endCause ?? self.causeOfHangUp, failure)
    }
  }

  /// How the call ends where this side gave it up and the gateway says nothing.
  var causeOfHangUp: CallEndCause {
    if call.state >= .answered { return .hungUp }
    return call.direction == .incoming && wantsHangUp ? .denied : .canceled
  }

  func send(keys: String) {
    guard let id, !isOver else { return }
    _ = client.send(.sendDigits(id, keys), for: self, .keys)
  }

  func transfer(_ order: TransferOrder) {
    guard let id, !isOver else { return }
    _ = client.send(.transfer(id, order), for: self, .transfer)
  }

  func join(with other: CallID) {
    guard let id, !isOver else { return }
    _ = client.send(.join(id, with: other), for: self, .transfer)
  }

  func completeTransfer() {
    guard let id, !isOver else { return }
    _ = client.send(.completeTransfer(id), for: self, .transfer)
  }

  func takeBack() {
    guard let id, !isOver else { return }
    _ = client.send(.takeBack(id), for: self, .transfer)
  }

  func record(_ state: RecordingState) {
    guard let id, !isOver else { return }
    _ = client.send(.record(id, state), for: self, .record)
  }

  func follow(_ watch: RoomWatch) {
    guard let id, !isOver else { return }
    _ = client.send(.room(id, watch), for: self, .follow)
  }

  func setHold(_ isOn: Bool) {
    wantsHold = isOn
    negotiate()
  }

  // MARK: Negotiation inside the call

  /// The device reaches the gateway from another address: ICE begins anew, and the call goes on.
  func networkChanged(to host: MediaAddress) {
    guard isPlaced, !isOver else { return }
    media.restart(from: host).assumeIsolated().whenComplete { result in
      guard !self.isOver else { return }
      guard case .success = result else { return self.finish(.error, CallFailure(.networkLost)) }
      self.wantsRestart = true
      self.negotiate()
    }
  }

  /// Offers what differs from what both agreed on; one offer at a time.
  func negotiate() {
    guard let id, isPlaced, !isOver, !media.isOfferPending, wantsHold != holds || wantsRestart else { return }
    media.isOnHold = wantsHold
    do {
      let offer = try media.offer()
      wantsRestart = false
      offerOnItsWay = client.send(.offer(id, offer), for: self, .offer)
      if offerOnItsWay == nil { media.withdrawOffer() }
    } catch {
      media.isOnHold = holds
      tell(.refused(CallFailure(.media, phrase: "no offer could be made: \(error)")))
    }
  }

  private func agreed() {
    offerOnItsWay = nil
    if holds != media.isOnHold {
      holds = media.isOnHold
      tell(.onHold(holds))
    }
    negotiate()
  }

  // MARK: Replies

  func took(_ reply: AppEvent, to request: Request) {
    guard !isOver else { return }
    switch (request, reply) {
    case (.place, .placed(_, let id, let answer)):
      self.id = id
      isPlaced = true
      call.note({ _ in }, id: id)
      client.register(self, as: id)
      do {
        try media.accept(answer)
      } catch {
        finish(.error, CallFailure(.media, phrase: "the gateway's answer cannot be used: \(error)"))
        _ = client.send(.hangUp(id), for: self, .hangUp)
        return
      }
      if wantsHangUp { return sendHangUp() }
      watchMediaPath(answer)
      negotiate()
    case (.place, .refused(_, let failure)): refused(failure)
    case (.alert, let reply): alerted(reply)
    case (.accept, let reply): accepted(reply)
    case (.decline, .refused): finish(causeOfHangUp, nil)
    case (.offer, .answered(let number, _, let answer)):
      guard number == offerOnItsWay, media.isOfferPending else { return }
      do {
        try media.accept(answer)
      } catch {
        return refusedOffer(CallFailure(.media, phrase: "the gateway's answer cannot be used: \(error)"))
      }
      agreed()
    case (.offer, .refused(let number, let failure)):
      guard number == offerOnItsWay else { return }
      refusedOffer(failure)
    case (.hangUp, .refused): finish(causeOfHangUp, nil)
    case (.keys, .refused(_, let failure)), (.transfer, .refused(_, let failure)), (.answer, .refused(_, let failure)),
      (.follow, .refused(_, let failure)), (.record, .refused(_, let failure)):
      tell(.refused(failure))
    default: break
    }
  }

  private func refused(_ failure: CallFailure) {
    guard failure.code == .crossed, !wantsHangUp, let id = failure.correlationID.flatMap(CallID.init) else {
      return finish(failure.endCause, failure)
    }
    crossingID = id
    awaitEnd(failure)
    client.crossed(self, with: id)
  }

  /// The call that comes in is known, and stands in for this one.
  func finishCrossed(by other: Call) {
    call.crosses(other)
    finish(CallFailureCode.crossed.details.endCause, CallFailure(.crossed, leg: .app, correlationID: other.id?.text))
  }

  private func refusedOffer(_ failure: CallFailure) {
    offerOnItsWay = nil
    media.withdrawOffer()
    media.isOnHold = holds
    wantsHold = holds
    tell(.refused(failure))
  }

  // MARK: Events

  func took(_ event: AppEvent) {
    guard !isOver else { return }
    let now = Clock.wall
    switch event {
    case .progressing(_, let headers):
      call.note(
        { details in
          details.progressedAt = details.progressedAt ?? now
          details.updateRemoteHeaders(headers)
        }, state: .progressing)
      tell(.progressing)
    case .ringing(_, let headers):
      call.note(
        { details in
          details.rungAt = details.rungAt ?? now
          details.updateRemoteHeaders(headers)
        }, state: .ringing)
      tell(.ringing)
    case .earlyMedia: tell(.earlyMedia)
    case .accepted(_, let headers):
      call.note(
        { details in
          details.answeredAt = details.answeredAt ?? now
          details.updateRemoteHeaders(headers)
        }, state: .answered)
      media.startSource()
      tell(.answered)
    case .established:
      call.note({ $0.establishedAt = $0.establishedAt ?? now }, state: .established)
      media.startSource()
      tell(.established)
    case .price(_, let price):
      call.note({ $0.price = price })
      tell(.price(price))
    case .creditEnds(_, let seconds): tell(.creditEnds(inSeconds: seconds))
    case .digit(_, let key, let milliseconds): tell(.digit(key, milliseconds: milliseconds))
    case .held(_, let isHeld): tell(.held(isHeld))
    case .transfer(_, let progress): tell(.transfer(progress))
    case .offered(let id, let offer): answer(id, offer)
    case .quality(_, let quality): tell(.quality(quality))
    case .members(_, let members): tell(.members(members))
    case .speakers(_, let speakers): tell(.speakers(speakers))
    case .recording(_, let state): tell(.recording(state))
    case .warning(_, let warning, let isRaised): tell(.warning(warning, isRaised: isRaised))
    case .ended(_, let summary):
      if !wantsHangUp, !isRinging { report() }
      call.note({ $0.finish(summary) }, state: .ended)
      close()
    case .placed, .done, .answered, .refused, .incoming: break
    }
  }

  private func answer(_ id: CallID, _ offer: String) {
    do {
      let answer = try media.answer(offer)
      offerOnItsWay = nil
      _ = client.send(.answer(id, answer), for: self, .answer)
      agreed()
    } catch {
      // The gateway's own limit ends a change that stays without an answer.
      tell(.refused(CallFailure(.media, phrase: "the gateway's offer cannot be used: \(error)")))
    }
  }

  private func took(_ event: MediaSession.Event) {
    guard !isOver else { return }
    switch event {
    case .secured(let suite):
      wasSecured = true
      mediaPathLimit?.cancel()
      tell(.mediaSecured(suite.map { "\($0.rawValue)" } ?? "none"))
    case .statistics(let statistics): latest = statistics
    case .muted(let isMuted):
      if let id { _ = client.send(.mute(id, isMuted), for: self, .mute) }
    case .failed(let failure): mediaFailed(failure)
    // Sooner than by consent, which lasts 30 s: another way is looked for, another relay among them.
    case .relayLost: if !wantsRestart, offerOnItsWay == nil { mediaFailed(.consentLost) }
    case .silent: if wasSecured, !isRinging, !wantsRestart, offerOnItsWay == nil { mediaFailed(.consentLost) }
    case .closedByPeer: break
    }
  }

  /// Tells early when no way for sound is found: the user should not wait for what will not come.
  func watchMediaPath(_ answer: String) {
    let isRelayed = SoundRelay.isOffered(client.relayTerms?.access)
    let limit = TimeAmount.milliseconds(Call.mediaPathMilliseconds + (isRelayed ? Call.relayMilliseconds : 0))
    mediaPathLimit = client.eventLoop.assumeIsolated().scheduleTask(in: limit) { [weak self] in
      guard let self, !self.isOver, !self.wasSecured else { return }
      let description = try? SessionDescription(parsing: answer)
      let addresses = (description?.sections.first?.candidates ?? []).prefix(4).map { "\($0.address) port \($0.port)" }
      let phrase =
        "nothing comes back over UDP from \(addresses.joined(separator: " or ")): a firewall or VPN may stop it, or this "
        + "network does not reach that address"
        + (self.media.relayProblem.map { "; nor through a relay: \($0)" } ?? "")
      self.tell(.mediaBlocked(CallFailure(.networkMedia, phrase: phrase, leg: .app)))
    }
  }

  private static func words(_ failure: TransportFailure) -> String {
    switch failure {
    case .noConnectivity, .consentLost: "no ICE check was answered by the gateway's media port"
    case .handshake, .handshakeTimeout: "the DTLS handshake with the gateway did not end"
    case .fingerprint: "the gateway's certificate has not the fingerprint that its answer names"
    case .key: "the keys of the sound cannot be used"
    }
  }

  private func mediaFailed(_ failure: TransportFailure) {
    switch failure {
    case .consentLost where !wantsRestart && offerOnItsWay == nil:
      // The way broke under a connection that may stand: look for another one.
      if let host = client.localHost { networkChanged(to: host) }
    case _ where isRinging:
      // Another network may be there by the time somebody answers, and other devices ring on.
      tell(.mediaBlocked(CallFailure(.networkMedia, phrase: CallCore.words(failure), leg: .app)))
    default:
      let failure =
        wasSecured
        ? CallFailure(.mediaLost, phrase: failure.rawValue)
        : CallFailure(.networkMedia, phrase: CallCore.words(failure), leg: .app)
      if let id {
        report()
        _ = client.send(.hangUp(id), for: self, .hangUp)
      }
      finish(.error, failure)
    }
  }

  func connection(isUp: Bool) {
    guard !isOver else { return }
    tell(.connection(isUp: isUp))
  }

  // MARK: End

  /// Tells the gateway what was measured here.
  private func report() {
    guard let id, let latest else { return }
    _ = client.send(.report(id, ClientStatistics(latest)), for: self, .report)
  }

  /// The gateway cannot be asked any more, or was never.
  func finish(_ cause: CallEndCause, _ failure: CallFailure?) {
    guard !isOver else { return }
    call.note(
      { details in
        details.endedAt = Clock.wall
        details.endCause = cause
        details.failure = failure
        if let answered = details.answeredAt, let ended = details.endedAt {
          details.durationMilliseconds = max(ended.milliseconds(since: answered), 0)
        }
      }, state: .ended)
    close()
  }

  private func close() {
    isOver = true
    hangUpLimit?.cancel()
    mediaPathLimit?.cancel()
    media.close()
    tell(.ended(call.details))
    client.forget(self)
  }
}

extension CallDetails {
  fileprivate mutating func updateRemoteHeaders(_ headers: CustomHeaders) {
    if headers.byteCount > 0 { remoteHeaders = headers }
  }
}

extension ClientStatistics {
  /// By the names of the W3C's Identifiers for WebRTC's Statistics API; times in seconds.
  init(_ statistics: MediaStatistics) {
    var figures: [String: Double] = [
      "packetsReceived": Double(statistics.received.packets), "bytesReceived": Double(statistics.received.bytes),
      // There, what came too late was discarded and not lost.
      "packetsLost": Double(max(0, statistics.received.lost - Int64(clamping: statistics.received.tooLate))),
      "packetsDiscarded": Double(statistics.received.tooLate), "jitter": statistics.received.jitter / 1_000,
      "concealmentEvents": Double(statistics.received.concealed),
      "fecPacketsReceived": Double(statistics.received.recovered),
      "packetsSent": Double(statistics.sent.packets), "bytesSent": Double(statistics.sent.bytes),
    ]
    if let roundTrip = statistics.roundTrip { figures["roundTripTime"] = roundTrip / 1_000 }
    self.init(figures: figures)
  }
}
