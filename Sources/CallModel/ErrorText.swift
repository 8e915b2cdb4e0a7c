/// What an error of a library says, without what only the library's authors can use: the names of its functions, and the
/// files and lines of the machine that it was built on.
package enum ErrorText {
  /// One line; the error's own words.
  package static func text(_ error: any Error) -> String { cleaned("\(error)") }

  static func cleaned(_ text: String) -> String {
    var text = text
    // `connect(descriptor:addr:size:): Connection refused (errno: 111)`, and
    // `connection reset (error set): Connection refused) (errno: 111)`.
    if let match = text.wholeMatch(of: /(?:.*: )?([^:]+?)\)? \(errno: \d+\)\.?/) { text = String(match.1) }
    // `… at /path/of/the/build/handshake.cc:298`, and the same without `at`.
    text.replace(/(?: at)? ?\/[^\s:"')\]]*\.[A-Za-z]{1,5}:\d+(?::\d+)?/, with: "")
    return text
  }
}
