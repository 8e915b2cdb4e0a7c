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

/// `retention`: how long what was kept of calls is kept.
public struct RetentionConfiguration: Hashable, Sendable {
  /// Records of calls; `nil` for ever.
  public var recordMilliseconds: Int64? = 90 * 86_400_000
  /// What apps measured, inside those records; `nil` for as long as the records.
  public var statisticsMilliseconds: Int64?
  /// What was seen of each call: messages, seconds of sound; `nil` keeps nothing of it.
  public var traceMilliseconds: Int64? = 14 * 86_400_000
  /// Whether what apps measure is kept at all.
  public var keepsClientStatistics = true

  public init() {}
}
