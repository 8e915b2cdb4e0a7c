/// What the media benchmark asks of the system beside rtpengine, without which it compares with less.
package enum MediaPackages {
  private static let programs = [("gcc", "gcc"), ("espeak-ng", "espeak-ng"), ("sox", "sox")]
  /// Headers that the yardstick and the generator of calls include.
  private static let headers = [
    ("opus/opus.h", "libopus-dev"), ("openssl/evp.h", "libssl-dev"), ("srtp2/srtp.h", "libsrtp2-dev"),
    ("liburing.h", "liburing-dev"),
  ]

  /// Why conferences have nothing to be compared with; `nil` when they have.
  package static func mixerAbsence(hasProgram: (String) -> Bool) -> String? {
    hasProgram("janus") ? nil : "janus is not installed: conferences have no anchor (apt-get install janus)"
  }

  /// - Returns: all that is missing and the line that installs it; `nil` where nothing is.
  package static func absence(hasProgram: (String) -> Bool, hasHeader: (String) -> Bool) -> String? {
    let missing =
      programs.filter { !hasProgram($0.0) }.map(\.1) + headers.filter { !hasHeader($0.0) }.map(\.1)
    guard !missing.isEmpty else { return nil }
    return "not installed: \(missing.joined(separator: ", ")): apt-get install \(missing.joined(separator: " "))"
  }
}
