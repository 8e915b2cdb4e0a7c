internal import Foundation

/// Files that a configuration is made of.
package enum ConfigurationFile {
  /// Most bytes of a file that holds a password.
  static let maximumSecretBytes = 4096

  /// - Throws: ``ConfigurationProblems`` with one problem.
  static func text(_ path: String, atMost maximum: Int) throws(ConfigurationProblems) -> String {
    func problem(_ text: String, fix: String? = nil) -> ConfigurationProblems {
      ConfigurationProblems([ConfigurationProblem(file: path, line: nil, column: nil, problem: text, fix: fix)])
    }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      guard FileManager.default.fileExists(atPath: path) else { throw problem("does not exist") }
      throw problem(
        "cannot be opened: check that this user may read it", fix: "chmod u+r \(path), or run as the user that owns it")
    }
    defer { try? handle.close() }
    let data: Data
    do {
      data = try handle.read(upToCount: maximum + 1) ?? Data()
    } catch {
      throw problem("cannot be read: \(error.localizedDescription)")
    }
    guard data.count <= maximum else { throw problem("has more than \(maximum) bytes") }
    guard let text = String(data: data, encoding: .utf8) else {
      throw problem("is no UTF-8 text", fix: "save \(path) as UTF-8")
    }
    return text
  }

  /// What is wrong with the mode of a file that holds a secret; `nil` for nothing, or when it cannot be asked. Files
  /// that systemd hands over as credentials are guarded by their folder.
  static func modeProblem(_ path: String) -> String? {
    if let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty,
      path.hasPrefix(folder + "/")
    {
      return nil
    }
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let mode = status.st_mode & 0o777
    guard mode & 0o077 != 0 else { return nil }
    return "\(path) may be read or changed by other users (mode \(String(mode, radix: 8))): chmod 600 \(path)"
  }

  /// The first line of a file.
  package static func secret(_ path: String) throws(ConfigurationProblems) -> String {
    let line = String(try text(path, atMost: maximumSecretBytes).prefix { !$0.isNewline })
    guard !line.isEmpty else {
      throw ConfigurationProblems([ConfigurationProblem(file: path, line: nil, column: nil, problem: "is empty")])
    }
    return line
  }
}
