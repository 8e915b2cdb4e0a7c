/// SIP status to Q.850 cause and back, as this gateway publishes it: one row for each status and each cause.
///
/// Where RFC 3398 has a value the table takes it, but for the rows that say why not. A Q.850 cause in a Reason header
/// always goes before the table.
public enum CallFailureCauseMapping {
  /// Where a row's value comes from.
  public enum Basis: String, Hashable, Sendable, CaseIterable {
    /// RFC 3398 section 7.2.4.1 (cause to status) or 8.2.6.1 (status to cause).
    case rfc3398
    /// This project's choice; the row says why.
    case ownChoice
  }

  /// The Q.850 cause that a SIP final response becomes.
  public struct StatusRow: Hashable, Sendable {
    /// A final response, 300 to 699.
    public let status: Int
    /// The Q.850 cause that it becomes, 1 to 127.
    public let cause: Int
    /// Whether RFC 3398 says so or this project.
    public let basis: Basis
    /// Why, for an own choice.
    public let note: String?

    init(_ status: Int, _ cause: Int, _ basis: Basis, _ note: String? = nil) {
      self.status = status
      self.cause = cause
      self.basis = basis
      self.note = note
    }
  }

  /// The SIP final response that a Q.850 cause becomes.
  public struct CauseRow: Hashable, Sendable {
    /// A Q.850 cause, 1 to 127.
    public let cause: Int
    /// The final response that it becomes, where ``statusFromUser`` has no say.
    public let status: Int
    /// The status where the cause's location is the called user; `nil` where that makes no difference.
    public let statusFromUser: Int?
    /// Whether RFC 3398 says so or this project.
    public let basis: Basis
    /// Why, for an own choice.
    public let note: String?

    init(_ cause: Int, _ status: Int, fromUser: Int? = nil, _ basis: Basis, _ note: String? = nil) {
      self.cause = cause
      self.status = status
      self.statusFromUser = fromUser
      self.basis = basis
      self.note = note
    }
  }

  /// Ascending by status, each at most once. A status that is missing falls by its hundreds, see ``cause(forStatus:)``.
  public static let statuses: [StatusRow] = [
    StatusRow(300, 23, .ownChoice, "the other side names another destination"),
    StatusRow(301, 23, .ownChoice, "the other side names another destination"),
    StatusRow(302, 23, .ownChoice, "the other side names another destination"),
    StatusRow(305, 23, .ownChoice, "the other side names another destination"),
    StatusRow(380, 23, .ownChoice, "the other side names another destination"),
    StatusRow(400, 41, .rfc3398),
    StatusRow(401, 21, .rfc3398),
    StatusRow(402, 21, .rfc3398),
    StatusRow(403, 21, .rfc3398),
    StatusRow(404, 1, .rfc3398),
    StatusRow(405, 63, .rfc3398),
    StatusRow(406, 79, .rfc3398),
    StatusRow(407, 21, .rfc3398),
    StatusRow(408, 102, .rfc3398),
    StatusRow(409, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(410, 22, .rfc3398),
    StatusRow(411, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(412, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(413, 127, .rfc3398),
    StatusRow(414, 127, .rfc3398),
    StatusRow(415, 79, .rfc3398),
    StatusRow(416, 127, .rfc3398),
    StatusRow(417, 127, .ownChoice, "as 420: a term of the request is not understood"),
    StatusRow(420, 127, .rfc3398),
    StatusRow(421, 127, .rfc3398),
    StatusRow(422, 127, .ownChoice, "as 423: a timer is too short"),
    StatusRow(423, 127, .rfc3398),
    StatusRow(424, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(425, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(428, 21, .ownChoice, "the call is refused for its caller's identity"),
    StatusRow(429, 21, .ownChoice, "the call is refused for its caller's identity"),
    StatusRow(430, 27, .ownChoice, "the connection to the called device is broken"),
    StatusRow(433, 24, .ownChoice, "anonymous call rejection is a feature of the called line"),
    StatusRow(436, 21, .ownChoice, "the call is refused for its caller's identity"),
    StatusRow(437, 21, .ownChoice, "the call is refused for its caller's identity"),
    StatusRow(438, 21, .ownChoice, "the call is refused for its caller's identity"),
    StatusRow(439, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(440, 25, .ownChoice, "as 483: the request went round too much"),
    StatusRow(469, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(470, 21, .ownChoice, "the called party has not consented"),
    StatusRow(480, 18, .rfc3398),
    StatusRow(481, 41, .rfc3398),
    StatusRow(482, 25, .rfc3398),
    StatusRow(483, 25, .rfc3398),
    StatusRow(484, 28, .rfc3398),
    StatusRow(485, 1, .rfc3398),
    StatusRow(486, 17, .rfc3398),
    StatusRow(487, 16, .ownChoice, "the caller gave up; a call that rang out has 19 by its class"),
    StatusRow(488, 88, .ownChoice, "the media do not fit; 88 comes back as 488"),
    StatusRow(489, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(491, 41, .ownChoice, "two requests met; the same request passes a moment later"),
    StatusRow(493, 127, .ownChoice, "a SIP matter that has no counterpart in the telephone network"),
    StatusRow(494, 127, .ownChoice, "as 421: a security agreement is asked for"),
    StatusRow(499, 31, .ownChoice, "unregistered: as any unlisted 4xx"),
    StatusRow(500, 41, .rfc3398),
    StatusRow(501, 79, .rfc3398),
    StatusRow(502, 38, .rfc3398),
    StatusRow(503, 41, .rfc3398),
    StatusRow(504, 102, .rfc3398),
    StatusRow(505, 127, .rfc3398),
    StatusRow(513, 127, .rfc3398),
    StatusRow(555, 79, .ownChoice, "a service that the peer does not have"),
    StatusRow(580, 47, .ownChoice, "resources asked for beforehand could not be had"),
    StatusRow(599, 41, .ownChoice, "unregistered: as 500 (RFC 3261 section 8.1.3.2)"),
    StatusRow(600, 17, .rfc3398),
    StatusRow(603, 21, .rfc3398),
    StatusRow(604, 1, .rfc3398),
    StatusRow(606, 88, .ownChoice, "as 488"),
    StatusRow(607, 21, .ownChoice, "the called party does not want the call"),
    StatusRow(608, 21, .ownChoice, "a machine on the way refused the call"),
    StatusRow(610, 21, .ownChoice, "unregistered: a refusal for every place of the called party"),
    StatusRow(699, 21, .ownChoice, "unregistered: a refusal for every place of the called party"),
  ]

  /// Ascending by cause, each at most once. A cause that is missing falls by its class, see
  /// ``status(forCause:location:)``.
  public static let causes: [CauseRow] = [
    CauseRow(1, 404, .rfc3398),
    CauseRow(2, 404, .rfc3398),
    CauseRow(3, 404, .rfc3398),
    CauseRow(4, 480, .ownChoice, "an announcement only: the number may work later"),
    CauseRow(5, 404, .ownChoice, "the number is wrong"),
    CauseRow(6, 503, .ownChoice, "another circuit may do"),
    CauseRow(7, 500, .ownChoice, "not a way to end a call"),
    CauseRow(8, 503, .ownChoice, "the circuit was taken for a call of higher precedence"),
    CauseRow(9, 503, .ownChoice, "the circuit was taken for a call of higher precedence"),
    CauseRow(14, 404, .ownChoice, "the number has moved to another network"),
    CauseRow(16, 480, .ownChoice, "sent where BYE or CANCEL cannot be: the call was not answered"),
    CauseRow(17, 486, .rfc3398),
    CauseRow(18, 408, .rfc3398),
    CauseRow(19, 480, .rfc3398),
    CauseRow(20, 480, .rfc3398),
    CauseRow(21, 403, fromUser: 603, .rfc3398),
    CauseRow(22, 410, .rfc3398),
    CauseRow(23, 410, .rfc3398),
    CauseRow(24, 433, .ownChoice, "anonymous call rejection is the feature that sends it most"),
    CauseRow(25, 483, .ownChoice, "the inverse of 482 and 483 in RFC 3398"),
    CauseRow(26, 404, .rfc3398),
    CauseRow(27, 502, .rfc3398),
    CauseRow(28, 484, .rfc3398),
    CauseRow(29, 501, .rfc3398),
    CauseRow(30, 480, .ownChoice, "not a way to end a call: as 31"),
    CauseRow(31, 480, .rfc3398),
    CauseRow(34, 503, .rfc3398),
    CauseRow(38, 503, .rfc3398),
    CauseRow(39, 503, .ownChoice, "as 38"),
    CauseRow(40, 503, .ownChoice, "as 38"),
    CauseRow(41, 503, .rfc3398),
    CauseRow(42, 503, .rfc3398),
    CauseRow(43, 503, .ownChoice, "as 41"),
    CauseRow(44, 503, .ownChoice, "as 34: another circuit may do"),
    CauseRow(46, 503, .ownChoice, "the network is full of calls of higher precedence"),
    CauseRow(47, 503, .rfc3398),
    CauseRow(49, 503, .ownChoice, "as 47"),
    CauseRow(50, 403, .ownChoice, "the line has not subscribed to it"),
    CauseRow(52, 403, .ownChoice, "the line may not place such calls"),
    CauseRow(53, 403, .ownChoice, "as 55"),
    CauseRow(54, 403, .ownChoice, "the line may not receive such calls"),
    CauseRow(55, 403, .rfc3398),
    CauseRow(57, 403, .rfc3398),
    CauseRow(58, 503, .rfc3398),
    CauseRow(62, 403, .ownChoice, "as 57"),
    CauseRow(63, 503, .ownChoice, "another trunk may have the service"),
    CauseRow(65, 488, .rfc3398),
    CauseRow(66, 488, .ownChoice, "as 65"),
    CauseRow(69, 501, .ownChoice, "as 29 and 79"),
    CauseRow(70, 488, .rfc3398),
    CauseRow(79, 501, .rfc3398),
    CauseRow(81, 500, .ownChoice, "as 111"),
    CauseRow(82, 500, .ownChoice, "as 111"),
    CauseRow(83, 500, .ownChoice, "as 111"),
    CauseRow(84, 500, .ownChoice, "as 111"),
    CauseRow(85, 500, .ownChoice, "as 111"),
    CauseRow(86, 500, .ownChoice, "as 111"),
    CauseRow(87, 403, .rfc3398),
    CauseRow(88, 488, .ownChoice, "the media do not fit: 503 would send the caller to other trunks in vain"),
    CauseRow(90, 403, .ownChoice, "as 87"),
    CauseRow(91, 404, .ownChoice, "as 2"),
    CauseRow(95, 500, .ownChoice, "as 111"),
    CauseRow(96, 500, .ownChoice, "as 111"),
    CauseRow(97, 500, .ownChoice, "as 111"),
    CauseRow(98, 500, .ownChoice, "as 111"),
    CauseRow(99, 500, .ownChoice, "as 111"),
    CauseRow(100, 500, .ownChoice, "as 111"),
    CauseRow(101, 500, .ownChoice, "as 111"),
    CauseRow(102, 504, .rfc3398),
    CauseRow(103, 500, .ownChoice, "as 111"),
    CauseRow(110, 500, .ownChoice, "as 111"),
    CauseRow(111, 500, .rfc3398),
    CauseRow(127, 500, .rfc3398),
  ]
}

// MARK: - Lookup

extension CallFailureCauseMapping {
  /// The Q.850 cause of a SIP final failure; `nil` outside 300 to 699. A status in no row falls by its hundreds.
  public static func cause(forStatus status: Int) -> Int? {
    if let row = byStatus[status] { return row.cause }
    return switch status {
    case 300...399: 23
    case 400...499: 31
    case 500...599: 41
    case 600...699: 21
    default: nil
    }
  }

  /// The SIP status of a Q.850 cause; `nil` outside 0 to 127. A cause in no row falls by its class, which is its number
  /// divided by 16.
  /// - Parameter location: Who cleared the call, where the cause came with it.
  public static func status(forCause cause: Int, location: CallFailure.Reason.Location? = nil) -> Int? {
    if let row = byCause[cause] { return location == .user ? row.statusFromUser ?? row.status : row.status }
    return switch cause {
    case 0...31: 480
    case 32...63: 503
    case 64...79: 501
    case 80...127: 500
    default: nil
    }
  }

  /// The Q.850 cause of a failure whose class is known: what the class says where the context chose it, such as a phone
  /// that rang out, else what the status says.
  static func cause(forStatus status: Int, code: CallFailureCode) -> Int? {
    guard code != CallFailureCatalogue.code(forStatus: status), let cause = code.details.causes.first else {
      return cause(forStatus: status)
    }
    return cause
  }

  /// `nil` for a status that only its hundreds decide.
  public static func row(forStatus status: Int) -> StatusRow? { byStatus[status] }

  /// `nil` for a cause that only its class decides.
  public static func row(forCause cause: Int) -> CauseRow? { byCause[cause] }

  private static let byStatus = Dictionary(statuses.map { ($0.status, $0) }) { first, _ in first }
  private static let byCause = Dictionary(causes.map { ($0.cause, $0) }) { first, _ in first }
}
