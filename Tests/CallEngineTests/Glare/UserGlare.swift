import AppProtocol
import CallEngine
import CallModel
import RoutingCore

/// What may happen to a call for a user at any moment. The user has a phone, a tablet and a desk phone.
enum UserGlareEvent: String, Hashable, Sendable, CaseIterable {
  case phoneAccepts, tabletAccepts
  /// For the whole user.
  case phoneDeclines
  /// On this device alone.
  case phoneDeclinesHere, tabletDeclinesHere, deskDeclinesHere
  case phoneHangsUp
  case callerHangsUp
  /// Nobody has answered in time.
  case ringTimeout
  /// The session is lost, and not resumed.
  case phoneLost, callerLost
  /// The phone registers anew, and keeps its older session.
  case phoneMoves

  var device: UserGlareDevice? {
    switch self {
    case .phoneAccepts, .phoneDeclines, .phoneDeclinesHere, .phoneHangsUp, .phoneLost, .phoneMoves: .phone
    case .tabletAccepts, .tabletDeclinesHere: .tablet
    case .deskDeclinesHere: .desk
    case .callerHangsUp, .ringTimeout, .callerLost: nil
    }
  }
}

enum UserGlareDevice: String, Hashable, Sendable, CaseIterable { case phone, tablet, desk }

/// Two events at one timing; `number` decides everything else.
struct UserGlareCase: CustomStringConvertible {
  let first: UserGlareEvent
  let second: UserGlareEvent
  let number: Int
  /// Milliseconds from the first event to the second.
  var delta: Int64
  /// Milliseconds from the first ring to the first event.
  var after: Int64
  /// Devices that offer while they ring.
  var early: Set<UserGlareDevice>
  /// Whether the user has a price, so that the call is in the ledger.
  var isPriced: Bool

  static let pairs = UserGlareEvent.allCases.flatMap { first in UserGlareEvent.allCases.map { (first, $0) } }

  init(_ first: UserGlareEvent, _ second: UserGlareEvent, number: Int) {
    (self.first, self.second, self.number) = (first, second, number)
    let all = UserGlareEvent.allCases
    let pair = (all.firstIndex(of: first) ?? 0) * all.count + (all.firstIndex(of: second) ?? 0)
    var random = SplitMix(seed: UInt64(pair) << 32 | UInt64(number) | 1 << 63)
    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    // In one turn, in one instant, in the time of a round trip, or far apart.
    delta = [0, draw(0...2), draw(1...300), draw(1...3000)][number % 4]
    after = [0, draw(0...50), draw(0...5000), draw(0...40_000)][Int(draw(0...3))]
    early = Set(UserGlareDevice.allCases.filter { _ in draw(0...1) == 0 })
    isPriced = draw(0...1) == 0
  }

  var description: String {
    "\(first.rawValue)/\(second.rawValue) timing \(number): \(after) ms after the ring, \(delta) ms apart, "
      + "early \(early.map(\.rawValue).sorted())\(isPriced ? ", priced" : "")"
  }
}

/// One case, run on the engine, and what is wrong with its outcome.
struct UserGlareRun {
  private let it: UserGlareCase
  private let bench: Bench
  private var call: CallID?
  private var sessions: [UserGlareDevice: SessionID] = [
    .phone: SessionID(2), .tablet: SessionID(3), .desk: SessionID(4),
  ]
  /// What each session must hear in the end, and when the call is decided: made by the order of events alone.
  private var ends: [SessionID: CallEndCause] = [:]
  private var ringing: [UserGlareDevice] = UserGlareDevice.allCases
  private var winner: UserGlareDevice?
  private var answeredAt: MonotonicInstant?
  private var endedAt: MonotonicInstant?
  private var end: CallEndCause?
  /// For the numbers of these requests.
  private var hangUps: UInt64 = 0
  private(set) var problems: [String] = []

  private static let caller = SessionID(1)
  private static let movedPhone = SessionID(5)
  private static let finish: Int64 = 20_000

  init(_ it: UserGlareCase) throws {
    self.it = it
    bench = try Bench(seed: UInt64(it.number))
    try run()
  }

  private mutating func expect(_ holds: Bool, _ problem: String) {
    if !holds { problems.append(problem) }
  }

  private mutating func run() throws {
    let price = try Rating.quote(
      try NumberDigits("46701234567"), plan: Scene.plan(), account: .eur, denyRanges: .none, at: Bench.firstClock)
    let devices = try UserGlareDevice.allCases.map { try Bench.device(session($0), $0.rawValue) }
    call = try bench.ring(price: it.isPriced ? price : nil, devices: devices)
    let rangAt = bench.now
    for device in UserGlareDevice.allCases {
      bench.say(call, .alert(offer: it.early.contains(device) ? Scene.appOffer() : nil), on: session(device))
    }
    bench.secured(call)
    // The time of a ring is not chosen: the other event is put before or after it.
    let ring = bench.engine.configuration.limits.ringMilliseconds
    let after =
      it.first == .ringTimeout ? ring : it.second == .ringTimeout ? max(0, ring - it.delta) : it.after
    pass(until: rangAt.advanced(byMilliseconds: after))
    try happen(it.first)
    pass(until: rangAt.advanced(byMilliseconds: after + it.delta))
    try happen(it.second)
    pass(until: bench.now.advanced(byMilliseconds: Self.finish))
    // Whatever is still up is ended by the caller, or by the time of its ring.
    if end == nil { try happen(.callerHangsUp) }
    check()
  }

  private func session(_ device: UserGlareDevice) -> SessionID { sessions[device] ?? SessionID(9) }

  private mutating func pass(until instant: MonotonicInstant) {
    let ring = Bench.firstInstant.advanced(byMilliseconds: bench.engine.configuration.limits.ringMilliseconds)
    let isRingOver = end == nil && winner == nil && ring <= instant
    bench.pass(milliseconds: max(0, instant.milliseconds(since: bench.now)))
    if isRingOver { decide(.noAnswer, at: ring) }
  }

  // MARK: What happens, and what must come of it

  private mutating func happen(_ event: UserGlareEvent) throws {
    let now = bench.now
    switch event {
    case .phoneAccepts, .tabletAccepts:
      guard let device = event.device else { return }
      let number = bench.say(
        call, .accept(offer: it.early.contains(device) ? nil : Scene.appOffer()), on: session(device))
      if end == nil, winner == nil, ringing.contains(device) {
        winner = device
        answeredAt = now
        for other in ringing where other != device { ends[session(other)] = .otherDeviceAnswered }
        ringing = []
        talk(device)
      } else if end == nil, winner == device {
        expect(refusal(number) == nil, "the winner's second accept is refused")
      } else {
        expect(
          refusal(number) == .tooLate, "\(device) is told \(String(describing: refusal(number))) for its late accept")
      }
    case .phoneDeclines:
      bench.say(call, .decline(.declined), on: session(.phone))
      if isRinging(.phone) { decide(.denied, at: now) }
    case .phoneDeclinesHere, .tabletDeclinesHere, .deskDeclinesHere:
      guard let device = event.device else { return }
      bench.say(call, .decline(.declined, .device), on: session(device))
      guard isRinging(device) else { return }
      ends[session(device)] = .denied
      ringing.removeAll { $0 == device }
      if ringing.isEmpty { decide(.denied, at: now) }
    case .phoneHangsUp:
      hangUps += 1
      let number = RequestNumber(9000 + hangUps)
      if let call { bench.feed(.request(session(.phone), number, .hangUp(call), bench.caller)) }
      if end == nil, winner == .phone {
        decide(.hungUp, at: now)
      } else if isRinging(.phone) {
        decide(.denied, at: now)
      }
    case .callerHangsUp:
      if let call { bench.request(.hangUp(call)) }
      if end == nil { decide(winner == nil ? .canceled : .hungUp, at: now) }
    case .ringTimeout: break
    case .phoneLost:
      let session = session(.phone)
      bench.feed(.sessionAbsent(session))
      bench.feed(.sessionEnded(session))
      guard end == nil else { return }
      if winner == .phone {
        decide(.error, at: now)
      } else if isRinging(.phone) {
        ends[session] = .error
        ringing.removeAll { $0 == .phone }
        if ringing.isEmpty { decide(.noAnswer, at: now) }
      }
    case .callerLost:
      bench.feed(.sessionAbsent(Self.caller))
      bench.feed(.sessionEnded(Self.caller))
      if end == nil { decide(.error, at: now) }
    case .phoneMoves:
      guard sessions[.phone] != Self.movedPhone else { return }
      let older = session(.phone)
      bench.feed(.deviceListens(try Bench.device(Self.movedPhone, "phone", older: [older])))
      guard end == nil, winner == nil else { return }
      if ringing.contains(.phone) { ends[older] = .otherDeviceAnswered } else { ringing.append(.phone) }
      sessions[.phone] = Self.movedPhone
      if it.early.contains(.phone) { bench.say(call, .alert(offer: Scene.appOffer()), on: Self.movedPhone) }
    }
  }

  private func isRinging(_ device: UserGlareDevice) -> Bool { end == nil && winner == nil && ringing.contains(device) }

  private mutating func decide(_ cause: CallEndCause, at instant: MonotonicInstant) {
    end = cause
    endedAt = instant
    ends[Self.caller] = cause
    if let winner { ends[session(winner)] = cause }
    let told: CallEndCause = cause == .noAnswer ? .timeout : cause == .error ? .canceled : cause
    for device in ringing { ends[session(device)] = told }
    ringing = []
  }

  /// Keys and first packets of both sides, so that the call is not ended for their want.
  private func talk(_ device: UserGlareDevice) {
    guard let call else { return }
    let legs: [LegID] = (1...4).map { LegID($0) }
    for leg in legs where bench.count("media attach \(leg)") > 0 { bench.secured(call, leg) }
    bench.speak(call)
  }

  private func refusal(_ number: RequestNumber) -> CallFailureCode? {
    for case .refused(number, let failure) in bench.events { return failure.code }
    return nil
  }

  // MARK: What came of it

  private mutating func check() {
    bench.finish()
    problems += Invariants(bench, isOver: true).problems
    for (session, cause) in ends.sorted(by: { $0.key.number < $1.key.number }) {
      let heard = bench.summary(for: session)
      expect(heard?.cause == cause, "\(session) heard \(heard?.cause.rawValue ?? "nothing"), due \(cause.rawValue)")
      let isMissed = session != Self.caller && [.timeout, .canceled, .error].contains(cause) && !isWinner(session)
      if let heard { expect(heard.isMissed == isMissed, "\(session) is told missed \(heard.isMissed) with \(cause)") }
      if cause == .otherDeviceAnswered, let heard, let winner, sessionRings(session) {
        expect(heard.device == winner.rawValue, "\(session) is told that \(heard.device ?? "nobody") answered")
      }
    }
    checkMoney()
    checkMedia()
  }

  private func isWinner(_ session: SessionID) -> Bool { winner.map { self.session($0) == session } ?? false }
  /// Whether it is the newest session of its device.
  private func sessionRings(_ session: SessionID) -> Bool { sessions.values.contains(session) }

  private mutating func checkMoney() {
    guard let summary = bench.summary(for: Self.caller), bench.records.count == 1 else {
      return problems.append("\(bench.records.count) records")
    }
    expect(bench.records.first?.summary.costMicro == summary.costMicro, "the record has another cost than the caller")
    var due = MicroUnits.zero
    if it.isPriced, let answeredAt, let endedAt {
      // A thousand micro-units for each begun second, for a minute at least; nothing for no time at all.
      let milliseconds = endedAt.milliseconds(since: answeredAt)
      due = milliseconds == 0 ? 0 : MicroUnits(max(60, (milliseconds + 999) / 1000)) * 1000
    }
    expect(summary.costMicro == due, "costs \(summary.costMicro.map { "\($0)" } ?? "unknown"), due \(due)")
    let steps = bench.asked.count
    expect(it.isPriced || steps == 0, "\(steps) questions to the ledger for a call without a price")
  }

  private mutating func checkMedia() {
    let joins = bench.ladder().count { $0.hasPrefix("media join") }
    expect(joins == (winner == nil ? 0 : 1), "\(joins) devices joined")
  }
}
