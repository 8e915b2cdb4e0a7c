import CallModel

/// What becomes of datagrams between the gateway and its trunks.
struct GatewayNetwork {
  /// Nothing passes in one direction until then.
  private var cutUntil: [[MonotonicInstant]]
  private let plan: (lost: UInt64, duplicated: UInt64, reordered: UInt64)
  private var random: SeededGenerator
  private(set) var lost = 0
  private(set) var duplicated = 0
  private(set) var reordered = 0
  private(set) var sent = 0
  var isHealed = false

  init(_ plan: GatewayPlan, random: SeededGenerator) {
    self.plan = (plan.lostPerThousand, plan.duplicatedPerThousand, plan.reorderedPerThousand)
    self.random = random
    cutUntil = Array(repeating: [.zero, .zero], count: GatewayPlan.trunkCount)
  }

  mutating func cut(_ trunk: Int, toTrunk: Bool, until: MonotonicInstant) {
    let way = toTrunk ? 0 : 1
    cutUntil[trunk][way] = max(cutUntil[trunk][way], until)
  }

  func isCut(_ trunk: Int, toTrunk: Bool, at now: MonotonicInstant) -> Bool {
    !isHealed && now < cutUntil[trunk][toTrunk ? 0 : 1]
  }

  /// Microseconds until each copy arrives; none for a datagram that is lost.
  mutating func deliveries(_ trunk: Int, toTrunk: Bool, at now: MonotonicInstant) -> [Int64] {
    sent += 1
    if isHealed { return [random.number(1000...30_000)] }
    if isCut(trunk, toTrunk: toTrunk, at: now) || random.chance(plan.lost) {
      lost += 1
      return []
    }
    guard random.chance(plan.duplicated) else { return [delay()] }
    duplicated += 1
    return [delay(), delay()]
  }

  private mutating func delay() -> Int64 {
    guard random.chance(plan.reordered) else { return random.number(1000...40_000) }
    reordered += 1
    return random.one(random.number(40_000...400_000), random.number(400_000...4_000_000))
  }
}
