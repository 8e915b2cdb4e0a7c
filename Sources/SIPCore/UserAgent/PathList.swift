import CallModel

/// The ways to one next hop, in the order to try (RFC 3263 section 4.3).
struct PathList: Sendable {
  private var paths: [SIPPath]
  private var position = 0
  private let maximum: Int
  /// Whether nobody has looked yet where the next hop lives.
  private(set) var wantsLocation: Bool

  init(_ paths: [SIPPath], maximum: Int) {
    self.maximum = max(1, maximum)
    self.paths = Array(paths.prefix(self.maximum))
    wantsLocation = paths.isEmpty
  }

  var current: SIPPath? { position < paths.count ? paths[position] : nil }
  /// Of all ways.
  var hosts: [SIPHost] { paths.map(\.remote.host) }
  var hasMore: Bool { position + 1 < paths.count }

  mutating func located(_ found: [SIPPath]) {
    wantsLocation = false
    paths = Array(found.prefix(maximum))
    position = 0
  }

  /// - Returns: Whether there is another way.
  mutating func advance() -> Bool {
    guard position < paths.count else { return false }
    position += 1
    return position < paths.count
  }

  /// Tries this way first; the current one comes after it. Another stream to the same host later in the list is not
  /// tried twice.
  mutating func insert(_ path: SIPPath) {
    guard position < paths.count else { return }
    paths.removeAll { $0 == path }
    paths.insert(path, at: min(position, paths.count))
  }

  /// A stream among the ways left, to the same host as this one.
  func stream(to path: SIPPath) -> SIPPath? {
    paths.dropFirst(position).first { $0.remote.transport == .tcp && $0.remote.host == path.remote.host }
  }
}
