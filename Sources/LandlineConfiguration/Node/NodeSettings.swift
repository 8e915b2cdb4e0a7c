/// `log`: what is written about the gateway's work.
public struct LogConfiguration: Hashable, Sendable {
  /// From the most talkative to the least, as in swift-log.
  public enum Level: String, Hashable, Sendable, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }
  /// How one record is written.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// One object a line.
    case json
    /// For people at a terminal.
    case text
  }

  /// Records below it are not written.
  public var level = Level.info
  /// JSON where the file says nothing.
  public var format = Format.json
  /// Whether only the ends of phone numbers are written.
  public var masksNumbers = true

  /// What holds where the file has no `log`: JSON from level `info` on, with numbers masked.
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
  /// Recordings of calls and conferences; `nil` for ever.
  public var recordingMilliseconds: Int64? = 90 * 86_400_000
  /// Whether what apps measure is kept at all.
  public var keepsClientStatistics = true

  /// What holds where the file has no `retention`: records and recordings for 90 days, traces for 14.
  public init() {}
}
