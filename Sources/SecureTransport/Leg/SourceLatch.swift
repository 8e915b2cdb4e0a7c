import CallModel

/// Where one flow, RTP or RTCP, comes from and goes to.
struct SourceLatch {
  private let policy: SourcePolicy
  /// From the description; `nil`: it wants nothing.
  private(set) var signalled: MediaAddress?
  private var learned: MediaAddress?
  /// When learning from plain packets is over. `nil` before the first packet.
  private var learnsUntil: MonotonicInstant?
  /// The named address spoke: plain packets from elsewhere are not believed any more.
  private var isSettled = false
  private var movesAfter: MonotonicInstant?

  init(_ policy: SourcePolicy) { self.policy = policy }

  /// A description names this address. Another one than before forgets all that was learned.
  mutating func signal(_ address: MediaAddress?) {
    guard address != signalled else { return }
    self = SourceLatch(policy)
    signalled = address
  }

  /// Where to send: what was learned, but never when the description wants nothing.
  var destination: MediaAddress? { signalled == nil ? nil : learned ?? signalled }

  /// Whether a packet from there is looked at. Without `isProtected` that decides.
  func admits(_ address: MediaAddress, at now: MonotonicInstant, isProtected: Bool) -> Bool {
    if address == signalled || address == learned { return true }
    switch policy {
    case .strict: return false
    case .off: return true
    case .learn:
      guard let rank = rank(of: address) else { return false }
      if isProtected { return true }
      guard !isSettled else { return false }
      guard let learned, let learnsUntil else { return true }
      return now < learnsUntil && rank > self.rank(of: learned) ?? 0
    }
  }

  /// A packet that was admitted is whole, and authentic where there is SRTP. The new destination when that moved it.
  mutating func accept(_ address: MediaAddress, at now: MonotonicInstant, isProtected: Bool) -> MediaAddress? {
    let former = learned ?? signalled
    if isProtected {
      guard address != former, policy != .strict, movesAfter.map({ now >= $0 }) ?? true else { return nil }
      learned = address == signalled ? nil : address
      movesAfter = now.advanced(byMilliseconds: SourcePolicy.minimumStay)
      return address
    }
    if address == signalled {
      isSettled = true
      guard learned != nil else { return nil }
      learned = nil
      return address
    }
    guard address != former, case .learn = policy else { return nil }
    if learnsUntil == nil { learnsUntil = now.advanced(byMilliseconds: SourcePolicy.learningWindow) }
    learned = address
    return address
  }

  /// How well a source is placed: 1 at the named host, 0 in a network, `nil` elsewhere.
  private func rank(of address: MediaAddress) -> Int? {
    if let signalled, signalled.hasHost(of: address) { return 1 }
    guard case .learn(let networks) = policy else { return nil }
    for network in networks where network.contains(address) { return 0 }
    return nil
  }
}
