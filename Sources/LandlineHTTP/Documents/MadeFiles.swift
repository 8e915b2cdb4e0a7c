import Synchronization

/// Files that are made when they are first asked for, and kept: as many as there are names that something is made for.
final class MadeFiles: Sendable {
  private let files = Mutex<[String: PageFile]>([:])

  /// - Returns: `nil` for a name that nothing is made for; that is not kept.
  func file(_ name: String, _ make: () -> PageFile?) -> PageFile? {
    if let known = files.withLock({ $0[name] }) { return known }
    guard let file = make() else { return nil }
    files.withLock { $0[name] = file }
    return file
  }
}
