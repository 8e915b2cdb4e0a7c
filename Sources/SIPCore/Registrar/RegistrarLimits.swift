/// Bounds of what telephones may register, and of what those may ask that have not proved who they are.
public struct RegistrarLimits: Hashable, Sendable {
  /// Shorter registrations get 423 with Min-Expires (RFC 3261 section 10.2.8).
  public var minimumSeconds: UInt32 = 60
  /// Longer registrations are shortened to this; it also stands where a telephone names none.
  public var maximumSeconds: UInt32 = 3600
  /// Bindings of all telephones of one owner; the one that was refreshed longest ago gives way.
  public var bindingsPerOwner = 4
  /// Contacts of one REGISTER; more get 400.
  public var contactsPerRequest = 4
  /// Bytes of a Contact's URI; a longer one gets 400.
  public var contactBytes = 512
  /// Bytes that are kept of a User-Agent.
  public var userAgentBytes = 128
  /// Answers to one source within ``answerWindowMilliseconds`` that has not proved who it is; more requests get none.
  public var unprovenAnswers = 40
  public var answerWindowMilliseconds: Int64 = 10_000
  /// Such answers to all sources together in a second: whoever forges sources gains nothing by having many.
  public var unprovenAnswersPerSecond = 200
  /// Over UDP an answer to whoever has proved nothing is at most so many times as long as what it answers, as in RFC 9000
  /// section 8.
  public var answerFactor = 3
  /// Wrong passwords and unknown names of one source within ``failureWindowMilliseconds``; after them nothing that it sends is
  /// looked at until the window is over.
  public var failures = 10
  public var failureWindowMilliseconds: Int64 = 60_000
  /// What telephones are challenged for, from the most preferred (RFC 8760 section 2.3). Some old ones take no challenge at all
  /// where one names an algorithm that they do not know.
  public var algorithms = [DigestAlgorithm.sha256, .md5]
  /// Sources that are counted; the one counted longest gives way.
  public var sources = 8192

  /// Each limit at the value written above.
  public init() {}

  /// The values written above.
  public static let standard = RegistrarLimits()
}
