import CallModel

/// What the numbers mean that a call can end with: SIP final statuses and Q.850 causes.
///
/// What a failure means for the caller, and what to do about it, is in `CallFailureCatalogue`; which number becomes which
/// in `CallFailureCauseMapping`.
public enum CauseCatalogue {
  /// A Q.850 cause.
  public struct Cause: Hashable, Sendable {
    /// 0 to 127.
    public let number: Int
    /// As ITU-T Q.850 has it.
    public let name: String
    /// One sentence.
    public let meaning: String
    /// What in the telephone world brings it about, likeliest first.
    public let likelyReasons: [String]

    init(_ number: Int, _ name: String, _ meaning: String, likely: [String]) {
      self.number = number
      self.name = name
      self.meaning = meaning
      self.likelyReasons = likely
    }
  }

  /// A SIP final status that is no success.
  public struct Status: Hashable, Sendable {
    /// 300 to 699.
    public let number: Int
    /// As registered.
    public let phrase: String
    /// One sentence.
    public let meaning: String

    init(_ number: Int, _ phrase: String, _ meaning: String) {
      self.number = number
      self.phrase = phrase
      self.meaning = meaning
    }
  }

  /// `nil` for a cause that Q.850 leaves free.
  public static func cause(_ number: Int) -> Cause? { causesByNumber[number] }

  /// `nil` for a status that is not registered.
  public static func status(_ number: Int) -> Status? { statusesByNumber[number] }

  /// The class of a cause, which the receiver falls back to where it does not know the cause; `nil` outside 0 to 127.
  public static func className(ofCause number: Int) -> String? {
    switch number {
    case 0...31: "normal event"
    case 32...47: "resource unavailable"
    case 48...63: "service or option not available"
    case 64...79: "service or option not implemented"
    case 80...95: "invalid message"
    case 96...111: "protocol error"
    case 112...127: "interworking"
    default: nil
    }
  }

  /// The class of a status; `nil` outside 300 to 699.
  public static func className(ofStatus number: Int) -> String? {
    switch number {
    case 300...399: "redirection"
    case 400...499: "request failure"
    case 500...599: "server failure"
    case 600...699: "global failure"
    default: nil
    }
  }

  private static let causesByNumber = Dictionary(causes.map { ($0.number, $0) }) { first, _ in first }
  private static let statusesByNumber = Dictionary(statuses.map { ($0.number, $0) }) { first, _ in first }
}

// MARK: - Page

extension CauseCatalogue {
  /// `CallFailureCauseMapping` with the names of this catalogue, as a page of documentation.
  public static var mappingMarkdown: String {
    func note(_ basis: CallFailureCauseMapping.Basis, _ note: String?) -> String {
      let name = basis == .rfc3398 ? "RFC 3398" : "own choice"
      return note.map { "\(name): \($0)" } ?? name
    }
    var page = """
      # SIP statuses and Q.850 causes

      What becomes of a SIP final response in the telephone network, and of a cause from there in SIP. The page is
      rendered from `CallFailureCauseMapping`. A Q.850 cause in a Reason header goes before both tables.

      ## From status to cause

      A failure whose context chose its class has the class's cause: 19 for a phone that rang out, 16 for a caller who gave
      up, 34 for 480 with Retry-After. A status that is not listed falls by its hundreds: 3xx becomes 23, 4xx 31, 5xx 41,
      6xx 21. RFC 3398 gives 31 to every status that it does not list; the rows of our own choice say more than that.

      | Status | Phrase | Cause | Name | Basis |
      |---|---|---|---|---|

      """
    for row in CallFailureCauseMapping.statuses {
      page += "| \(row.status) | \(status(row.status)?.phrase ?? "not registered") "
      page += "| \(row.cause) | \(cause(row.cause)?.name ?? "–") | \(note(row.basis, row.note)) |\n"
    }
    page += """

      ## From cause to status

      A cause that is not listed falls by its class, the cause divided by 16: 0 to 31 becomes 480, 32 to 63 503, 64 to 79 501,
      80 to 127 500. The second status is for a cause whose location (RFC 8606) is the user.

      | Cause | Name | Status | Phrase | From the user | Basis |
      |---|---|---|---|---|---|

      """
    for row in CallFailureCauseMapping.causes {
      page += "| \(row.cause) | \(cause(row.cause)?.name ?? "–") | \(row.status) "
      page += "| \(status(row.status)?.phrase ?? "–") | \(row.statusFromUser.map(String.init) ?? "–") "
      page += "| \(note(row.basis, row.note)) |\n"
    }
    return page
  }
}
