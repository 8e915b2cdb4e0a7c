import CallModel

/// Hosts that we have to do with: some for good, the others until newer ones take their place.
struct PeerHosts: Sendable {
  private let always: Set<SIPHost>
  private let maximum: Int
  private var met: Set<SIPHost> = []
  /// In the order they were met; a ring once it is full.
  private var order: [SIPHost] = []
  private var oldest = 0

  init(always: [SIPHost], maximum: Int) {
    self.always = Set(always)
    self.maximum = max(1, maximum)
  }

  func contains(_ host: SIPHost) -> Bool { always.contains(host) || met.contains(host) }

  mutating func insert(_ host: SIPHost) {
    guard !contains(host) else { return }
    met.insert(host)
    guard order.count >= maximum else { return order.append(host) }
    met.remove(order[oldest])
    order[oldest] = host
    oldest = (oldest + 1) % maximum
  }
}
