/// What may happen to a call at any moment.
enum GlareEvent: String, Hashable, Sendable, CaseIterable {
  /// The trunk hangs up; before the answer it refuses with 480.
  case bye
  /// The app gives up before the answer.
  case cancel
  /// The trunk answers with 200; after the answer it repeats that 200.
  case answer
  /// The trunk holds by re-INVITE; before the answer by UPDATE.
  case reinvite
  /// The app holds.
  case hold
  /// The trunk holds by UPDATE.
  case update
  /// Nobody answers in time; after the answer, the trunk no longer refreshes the session.
  case timeout
  /// What the account can pay for is used up.
  case creditOut = "credit"
  /// The app hangs up.
  case hangUp = "hangup"
  /// The app's session is lost and not resumed.
  case appLoss = "apploss"
  /// No datagram reaches the other side any more, in either direction; no sound comes from the trunk.
  case trunkLoss = "trunkloss"

  /// Whether a clock of the call decides when it happens.
  var isDriven: Bool { self == .timeout || self == .creditOut }
}

/// One pair at one timing: everything that a run depends on. Its text replays it.
struct GlareCase: Hashable, Sendable, CustomStringConvertible {
  var first: GlareEvent
  var second: GlareEvent
  /// Microseconds from the first event to the second.
  var delta: Int64 = 0
  /// Microseconds on the wire, each way.
  var toTrunk: Int64 = 0
  var toGateway: Int64 = 0
  /// A datagram takes up to this many microseconds more, so that datagrams overtake each other.
  var jitter: Int64 = 0
  /// Which datagram after the first event is lost: 1 is the first to the trunk, -1 the first to the gateway; 0 for none.
  var lost = 0
  /// Which one comes twice.
  var doubled = 0
  /// Microseconds that the ledger takes.
  var ledger: Int64 = 0
  /// Microseconds that the trunk takes to answer an offer.
  var answering: Int64 = 0
  /// The trunk answers so many microseconds after the first event, or before it; `nil`: only if the pair says so.
  var pickUp: Int64?
  /// Microseconds from the loss of a session to its end.
  var absence: Int64 = 0
  /// Microseconds from the answer to the first event, where both are after the answer.
  var talk: Int64 = 1_000_000
  /// Whether the trunk's 183 is reliable and holds its description.
  var isReliable = false
  var seed: UInt64 = 1

  /// Before the answer, or after it.
  var isRinging: Bool {
    let early: Set<GlareEvent> = [.cancel, .answer]
    return early.contains(first) || early.contains(second) && first != .creditOut
  }

  func has(_ event: GlareEvent) -> Bool { first == event || second == event }

  static let pairs = GlareEvent.allCases.flatMap { first in GlareEvent.allCases.map { (first, $0) } }

  init(_ first: GlareEvent, _ second: GlareEvent) {
    self.first = first
    self.second = second
  }

  /// The `number`th timing of a pair.
  init(_ first: GlareEvent, _ second: GlareEvent, number: Int) {
    self.init(first, second)
    let all = GlareEvent.allCases
    let pair = (all.firstIndex(of: first) ?? 0) * all.count + (all.firstIndex(of: second) ?? 0)
    var random = SplitMix(seed: UInt64(pair) << 32 | UInt64(number))
    func draw(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }
    func one(in count: Int64) -> Bool { draw(1...count) == 1 }
    switch number % 4 {
    case 0: break
    case 1: (toTrunk, toGateway, jitter) = (draw(100...2_000), draw(100...2_000), draw(0...1_000))
    case 2: (toTrunk, toGateway, jitter) = (draw(5_000...150_000), draw(5_000...150_000), draw(0...40_000))
    default: (toTrunk, toGateway, jitter) = (draw(50_000...700_000), draw(50_000...700_000), draw(0...900_000))
    }
    switch draw(0...6) {
    case 0: delta = 0
    case 1: delta = max(0, toTrunk + draw(-2...2))
    case 2: delta = max(0, toGateway + draw(-2...2))
    case 3: delta = draw(0...max(1, toTrunk + toGateway))
    case 4: delta = draw(0...2_000)
    case 5: delta = draw(0...1_200_000)
    default: delta = draw(0...5_000_000)
    }
    if one(in: 2) { lost = Int(draw(1...6) * (one(in: 2) ? 1 : -1)) }
    if one(in: 4) { doubled = Int(draw(1...6) * (one(in: 2) ? 1 : -1)) }
    if one(in: 2) { ledger = draw(0...80_000) }
    if one(in: 3) { answering = draw(0...400_000) }
    if isRinging, !has(.answer), one(in: 2) {
      pickUp = one(in: 2) ? draw(-2_000...2_000) - toTrunk : draw(-200_000...900_000)
    }
    absence = one(in: 3) ? 0 : draw(0...1_500_000)
    talk = one(in: 2) ? draw(0...(2 * (toTrunk + toGateway) + 5_000)) : draw(0...3_000_000)
    isReliable = one(in: 2)
    seed = random.next()
  }

  // MARK: Text

  var description: String {
    var words = ["\(first.rawValue)/\(second.rawValue)"]
    func add(_ name: String, _ value: some CustomStringConvertible) { words.append("\(name)=\(value)") }
    add("delta", delta)
    add("toTrunk", toTrunk)
    add("toGateway", toGateway)
    add("jitter", jitter)
    add("lost", lost)
    add("doubled", doubled)
    add("ledger", ledger)
    add("answering", answering)
    if let pickUp { add("pickUp", pickUp) }
    add("absence", absence)
    add("talk", talk)
    add("reliable", isReliable ? 1 : 0)
    add("seed", seed)
    return words.joined(separator: " ")
  }

  /// Reads ``description``; what is left out has its default. `nil` where a word is unknown.
  init?(_ text: String) {
    let words = text.split(separator: " ")
    guard let names = words.first?.split(separator: "/"), names.count == 2,
      let first = GlareEvent(rawValue: String(names[0])), let second = GlareEvent(rawValue: String(names[1]))
    else { return nil }
    self.init(first, second)
    for word in words.dropFirst() {
      let parts = word.split(separator: "=")
      guard parts.count == 2 else { return nil }
      if parts[0] == "seed" {
        guard let value = UInt64(parts[1]) else { return nil }
        seed = value
        continue
      }
      guard let value = Int64(parts[1]) else { return nil }
      switch parts[0] {
      case "delta": delta = value
      case "toTrunk": toTrunk = value
      case "toGateway": toGateway = value
      case "jitter": jitter = value
      case "lost": lost = Int(value)
      case "doubled": doubled = Int(value)
      case "ledger": ledger = value
      case "answering": answering = value
      case "pickUp": pickUp = value
      case "absence": absence = value
      case "talk": talk = value
      case "reliable": isReliable = value == 1
      default: return nil
      }
    }
  }
}
