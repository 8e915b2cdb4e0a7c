import Foundation

/// The file of a Unix-domain socket that only its owner can open, from its first moment on.
///
/// It is bound inside a folder that nobody else may enter, and moved to its place when its mode is right: in place of
/// whatever an earlier run left there.
struct OwnerSocket: Sendable {
  let path: String
  private var folder: String { path + ".new" }
  /// Where to bind.
  var bindPath: String { folder + "/s" }

  init(path: String) throws {
    self.path = path
    try? FileManager.default.removeItem(atPath: path + ".new")
    try FileManager.default.createDirectory(
      atPath: path + ".new", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  /// Once it is bound.
  func publish() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bindPath)
    guard rename(bindPath, path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try? FileManager.default.removeItem(atPath: folder)
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: folder)
    try? FileManager.default.removeItem(atPath: path)
  }
}
