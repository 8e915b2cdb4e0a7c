import CallModel

/// The targets of one call, as 3xx responses name them (RFC 3261 section 8.1.3.4): each one once, the preferred first,
/// and never from sips back to sip.
struct Redirection: Sendable {
  private(set) var current: SIPURI
  private var waiting: [SIPURI] = []
  private var seen: [SIPURI]
  private var remaining: Int
  private let maximumTargets: Int
  private let wantsSecurity: Bool
  private let allows: @Sendable (SIPURI) -> Bool

  /// - Parameters:
  ///   - maximum: 3xx responses that are followed.
  ///   - targets: Targets remembered.
  ///   - allows: Whether a target may be called.
  init(_ target: SIPURI, maximum: Int, targets: Int, allows: @escaping @Sendable (SIPURI) -> Bool = { _ in true }) {
    self.allows = allows
    current = target
    seen = [target]
    remaining = max(0, maximum)
    maximumTargets = max(0, targets)
    wantsSecurity = target.scheme == .sips
  }

  /// Takes the contacts of a 3xx.
  /// - Returns: `false` where no redirection is followed any more.
  mutating func add(_ contacts: [NameAddress]) -> Bool {
    guard remaining > 0 else { return false }
    remaining -= 1
    let ordered = contacts.enumerated().map { (order: $0.offset, quality: Redirection.quality($0.element), $0.element) }
      .sorted { ($1.quality, $0.order) < ($0.quality, $1.order) }
    var fresh: [SIPURI] = []
    for (_, _, contact) in ordered {
      guard let target = Redirection.target(contact.uri), !wantsSecurity || target.scheme == .sips,
        seen.count <= maximumTargets, !seen.contains(where: { $0.isEquivalent(to: target) })
      else { continue }
      seen.append(target)
      guard allows(target) else { continue }
      fresh.append(target)
    }
    waiting.insert(contentsOf: fresh, at: 0)
    return true
  }

  /// Takes the next target.
  mutating func advance() -> Bool {
    guard !waiting.isEmpty else { return false }
    current = waiting.removeFirst()
    return true
  }

  /// Thousandths of the q parameter; 1000 where there is none that can be read.
  private static func quality(_ contact: NameAddress) -> Int {
    guard let text = contact.parameters["q"]?.value else { return 1000 }
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = parts.first.flatMap({ Int(String(Substring($0))) }), (0...1).contains(whole) else { return 1000 }
    var thousandths = 0
    if parts.count == 2 {
      var scale = 100
      for digit in parts[1].prefix(3) {
        guard MessageCharacter.isDigit(digit) else { return 1000 }
        thousandths += Int(digit - UInt8(ascii: "0")) * scale
        scale /= 10
      }
    }
    return min(1000, whole * 1000 + thousandths)
  }

  /// What may stand in a Request-URI: the header fields and the method that a Contact may carry are the peer's wishes
  /// for a request that is ours.
  private static func target(_ uri: SIPURI) -> SIPURI? {
    var target = uri
    target.headers = []
    target.parameters.removeAll { $0.name == "method" }
    if target.scheme != .tel, target.host == nil { return nil }
    if target.scheme == .tel, target.user?.isEmpty ?? true { return nil }
    return target
  }
}
