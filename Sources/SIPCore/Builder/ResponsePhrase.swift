/// The reason phrases that go with our responses.
enum ResponsePhrase {
  private static let successes: [Int: String] = [
    100: "Trying", 180: "Ringing", 181: "Call Is Being Forwarded", 182: "Queued", 183: "Session Progress",
    199: "Early Dialog Terminated", 200: "OK", 202: "Accepted", 204: "No Notification",
  ]

  /// As registered with IANA; the class of the status where none is.
  static func registered(_ status: Int) -> String {
    if let phrase = successes[status] ?? CauseCatalogue.status(status)?.phrase { return phrase }
    return switch status {
    case ..<200: "Progress"
    case ..<300: "OK"
    case ..<400: "Redirected"
    case ..<500: "Client Error"
    case ..<600: "Server Error"
    default: "Global Failure"
    }
  }
}
