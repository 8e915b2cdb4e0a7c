import CallModel
import SIPCore

/// One side of a call as the layer above an agent knows it: what it was told, what it asked for, and what it believes the
/// session to be.
final class SimulatedLeg {
  let party: Int
  let handle: CallHandle
  let call: Int
  let isCaller: Bool

  private(set) var isTried = false
  private(set) var progresses = 0
  private(set) var establishedAt: MonotonicInstant?
  private(set) var end: CallEnd?
  private(set) var endedAt: MonotonicInstant?
  /// What this side asked for.
  var acceptedAt: MonotonicInstant?
  var rejectedWith: Int?
  var hungUpAt: MonotonicInstant?

  /// Offers of the peer that are open, with their descriptions.
  private(set) var peerOffers: [ExchangeID: MessageBody?] = [:]
  /// Offers of ours that are open.
  private(set) var ownOffers: [ExchangeID: MessageBody] = [:]
  /// Our offer in the INVITE, or in a response to one without, while it is open.
  var firstOffer: MessageBody?
  private(set) var local: MessageBody?
  private(set) var remote: MessageBody?
  /// What we answer with as long as nothing changes.
  var answer: MessageBody?
  private var closedOffers: Set<ExchangeID> = []

  var sentInformations: Set<[UInt8]> = []
  private var heardInformations: Set<[UInt8]> = []

  init(party: Int, handle: CallHandle, call: Int, isCaller: Bool) {
    self.party = party
    self.handle = handle
    self.call = call
    self.isCaller = isCaller
  }

  var isUp: Bool { establishedAt != nil && end == nil }
  /// Whether an exchange of offer and answer is open as far as this side knows.
  var isNegotiating: Bool { !peerOffers.isEmpty || !ownOffers.isEmpty || firstOffer != nil }

  // MARK: - What it does

  func offered(_ exchange: ExchangeID, _ body: MessageBody) { ownOffers[exchange] = body }

  /// - Returns: Whether the offer was open still.
  func answered(_ exchange: ExchangeID, with body: MessageBody) -> Bool {
    guard let offer = peerOffers.removeValue(forKey: exchange) else { return false }
    if let offer {
      closedOffers.insert(exchange)
      (local, remote) = (body, offer)
    } else {
      ownOffers[exchange] = body
    }
    return true
  }

  func refused(_ exchange: ExchangeID) -> Bool {
    guard peerOffers.removeValue(forKey: exchange) != nil else { return false }
    closedOffers.insert(exchange)
    return true
  }

  /// A description of ours in answer to the offer of the INVITE.
  func agreed(_ local: MessageBody?, with remote: MessageBody?) { (self.local, self.remote) = (local, remote) }

  // MARK: - What it hears

  /// - Returns: The rule that the event breaks, if it breaks one.
  func hear(_ event: UserAgentEvent, at now: MonotonicInstant) -> String? {
    if end != nil { return "an event after the end" }
    switch event {
    case .trying:
      guard isCaller else { return "\"trying\" for a call that came in" }
      guard !isTried else { return "\"trying\" twice" }
      isTried = true
    case .progress(_, let progress):
      guard isCaller else { return "progress of a call that came in" }
      guard isTried else { return "progress before \"trying\"" }
      guard establishedAt == nil else { return "progress after the answer" }
      guard (101...199).contains(progress.status), progress.status != 199 else {
        return "progress with status \(progress.status)"
      }
      progresses += 1
      guard let body = progress.body else { break }
      if progress.isReliable, let firstOffer { conclude(firstOffer, with: body) }
    case .established(_, let answer):
      guard establishedAt == nil else { return "established twice" }
      guard isCaller || acceptedAt != nil else { return "established and never accepted" }
      establishedAt = now
      if let body = answer.body, isCaller {
        if let firstOffer { conclude(firstOffer, with: body) } else { remote = body }
      } else if isCaller, firstOffer != nil {
        return "established without an answer to the offer"
      }
    case .ended(_, let end):
      self.end = end
      endedAt = now
      guard end.wasEstablished == (establishedAt != nil) else { return "the end is wrong about whether it was up" }
      guard (end.cause == .failed) == (end.failure != nil) else { return "a failure and its cause do not match" }
    case .incoming: return "a call came in twice"
    case .offered(_, let exchange, let body):
      guard isKnown(exchange) == nil else { return "an offer was reported twice" }
      peerOffers[exchange] = .some(body)
    case .answered(_, let exchange, let body):
      if closedOffers.contains(exchange) { return "an offer was answered twice" }
      if let own = ownOffers.removeValue(forKey: exchange) {
        closedOffers.insert(exchange)
        (local, remote) = (own, body)
      } else if let firstOffer {
        conclude(firstOffer, with: body)
      } else {
        remote = body
      }
    case .offerRefused(_, let exchange, let status):
      guard (400...699).contains(status) else { return "an offer refused with \(status)" }
      if closedOffers.contains(exchange) { return "an offer that was closed is refused" }
      if peerOffers.removeValue(forKey: exchange) == nil, ownOffers.removeValue(forKey: exchange) == nil {
        guard firstOffer != nil else { return "an offer that was never made is refused" }
        firstOffer = nil
      }
      closedOffers.insert(exchange)
    case .info(_, let body):
      guard heardInformations.insert(body.bytes).inserted else { return "an INFO was told twice" }
    case .transferRequested, .transferProgress, .queryAnswered, .registration, .phoneBindings: break
    }
    return nil
  }

  var informations: Set<[UInt8]> { heardInformations }

  private func isKnown(_ exchange: ExchangeID) -> Bool? {
    peerOffers[exchange] != nil || ownOffers[exchange] != nil || closedOffers.contains(exchange) ? true : nil
  }

  private func conclude(_ offer: MessageBody, with answer: MessageBody) {
    (local, remote) = (offer, answer)
    firstOffer = nil
  }

  /// `up, failed sip.transport 408`: the end in a few words.
  var summary: String {
    guard let end else { return "no end" }
    let state = establishedAt != nil ? "up" : "not up"
    switch end.cause {
    case .local: return "\(state), local"
    case .remote: return "\(state), remote"
    case .failed:
      let status = end.failure?.sipStatus.map { " \($0)" } ?? ""
      return "\(state), failed \(end.failure?.code.rawValue ?? "")\(status)"
    }
  }
}

/// One call with everything that came of it.
final class SimulatedCall {
  let number: Int
  let script: CallScript
  var random: SeededGenerator
  let caller: SimulatedLeg
  /// INVITEs of it that came in: one, but for redirections and paths that were given up.
  var callees: [SimulatedLeg] = []
  var identifiers: Set<String> = []
  /// Datagrams of it that the network lost or damaged.
  var losses = 0
  /// Damaged ones alone: the peer may refuse a request that it has accepted already.
  var damages = 0
  /// Offers that were left without an answer on purpose, or that could not be refused but by the end of the call.
  var isUncooperative = false
  var isUnlocatable = false
  /// Whether a refresh was answered with another description: for a moment the sides believe different things.
  var hasMovedOn = false
  var descriptionsDifferSince: MonotonicInstant?

  init(number: Int, script: CallScript, random: SeededGenerator) {
    self.number = number
    self.script = script
    self.random = random
    caller = SimulatedLeg(
      party: script.caller, handle: CallHandle(UInt64(number)), call: number, isCaller: true)
  }
}
