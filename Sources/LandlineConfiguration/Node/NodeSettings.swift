/// `log`: what is written about the gateway's work.
public struct LogConfiguration: Hashable, Sendable {
  public enum Level: String, Hashable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// One object a line.
    case json
    /// For people at a terminal.
    case text
  }

  public var level = Level.info
  public var format = Format.json
  /// Whether only the ends of phone numbers are written.
  public var masksNumbers = true

  public init() {}
}

/// `calls`: limits of every call. Times in milliseconds or seconds as named.
public struct CallLimitsConfiguration: Hashable, Sendable {
  public var calls = 10_000
  public var callsPerSession = 16
  /// Bought from the ledger before the first INVITE.
  public var firstGrantSeconds: Int64 = 60
  /// Bought each time after that.
  public var grantSeconds: Int64 = 60
  /// The next grant is asked for when this is left of the last.
  public var guardMilliseconds: Int64 = 5_000
  /// How long an answer of the ledger is waited for.
  public var ledgerMilliseconds: Int64 = 2_000
  public var maximumCallSeconds: Int64 = 14_400
  /// Sound before the answer.
  public var earlyMediaMilliseconds: Int64 = 90_000
  /// No packet from a side that is not on hold: the call is dead.
  public var deadMediaMilliseconds: Int64 = 30_000
  /// How long keys may take after both sides agreed.
  public var mediaSetUpMilliseconds: Int64 = 15_000
  /// How long ports and names may take before the first INVITE.
  public var preparationMilliseconds: Int64 = 2_000

  public init() {}
}

/// `retention`: how long what was kept of calls is kept.
public struct RetentionConfiguration: Hashable, Sendable {
  /// Records of calls; `nil` for ever.
  public var recordMilliseconds: Int64? = 90 * 86_400_000
  /// What apps measured, inside those records; `nil` for as long as the records.
  public var statisticsMilliseconds: Int64?
  /// Whether what apps measure is kept at all.
  public var keepsClientStatistics = true

  public init() {}
}
