internal import Foundation

/// Files that a configuration is made of.
package enum ConfigurationFile {
  /// Most bytes of a file that holds a password.
  static let maximumSecretBytes = 4096

  /// - Throws: ``ConfigurationProblems`` with one problem.
  static func text(_ path: String, atMost maximum: Int) throws(ConfigurationProblems) -> String {
    func problem(_ text: String) -> ConfigurationProblems {
      ConfigurationProblems([ConfigurationProblem(file: path, line: nil, column: nil, problem: text)])
    }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      let exists = FileManager.default.fileExists(atPath: path)
      throw problem(exists ? "cannot be opened: check that this user may read it" : "does not exist")
    }
    defer { try? handle.close() }
    let data: Data
    do {
      data = try handle.read(upToCount: maximum + 1) ?? Data()
    } catch {
      throw problem("cannot be read: \(error.localizedDescription)")
    }
    guard data.count <= maximum else { throw problem("has more than \(maximum) bytes") }
    guard let text = String(data: data, encoding: .utf8) else { throw problem("is no UTF-8 text") }
    return text
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
