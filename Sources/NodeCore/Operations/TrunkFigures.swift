public import CallModel

/// What became of the attempts over one trunk lately.
public struct TrunkFigures: Hashable, Sendable {
  /// Attempts that ended in one way.
  public struct Failure: Hashable, Sendable {
    /// The gateway's own kind of failure.
    public var code: CallFailureCode
    /// `nil` where no final response came.
    public var sipStatus: Int?
    /// Within the last ``windowSeconds``.
    public var count: Int
    /// End of the latest such attempt.
    public var lastAt: Instant

    public init(code: CallFailureCode, sipStatus: Int?, count: Int, lastAt: Instant) {
      self.code = code
      self.sipStatus = sipStatus
      self.count = count
      self.lastAt = lastAt
    }
  }

  /// One hour by the clock, UTC.
  public struct Hour: Hashable, Sendable {
    /// The full hour, UTC.
    public var startsAt: Instant
    /// INVITEs whose calls were over in it, and those among them that were answered.
    public var attempts: Int
    /// Those of ``attempts`` that were answered.
    public var answered: Int
    /// OPTIONS whose end came in it, and those among them that were answered.
    public var pings: Int
    /// Those of ``pings`` that were answered.
    public var pingAnswers: Int
    /// From OPTIONS to answer; `nil` where none was answered.
    public var meanOptionsMilliseconds: Double?
    /// The slowest answer to OPTIONS; `nil` where none was answered.
    public var worstOptionsMilliseconds: Double?

    /// Both times are milliseconds, and `nil` where no OPTIONS was answered.
    public init(
      startsAt: Instant, attempts: Int, answered: Int, pings: Int, pingAnswers: Int,
      meanOptionsMilliseconds: Double?, worstOptionsMilliseconds: Double?
    ) {
      self.startsAt = startsAt
      self.attempts = attempts
      self.answered = answered
      self.pings = pings
      self.pingAnswers = pingAnswers
      self.meanOptionsMilliseconds = meanOptionsMilliseconds
      self.worstOptionsMilliseconds = worstOptionsMilliseconds
    }

    /// 0 to 1; `nil` without attempts.
    public var answerRatio: Double? { attempts > 0 ? Double(answered) / Double(attempts) : nil }
  }

  /// How many hours are kept of a trunk, the running one included. They end with the process.
  public static let hourCount: Int64 = 24
  /// How far back the figures of attempts and failures go.
  public static let windowSeconds: Int64 = 3600

  /// INVITEs whose calls are over.
  public var attempts = 0
  /// Those among them that were answered.
  public var answered = 0
  /// From answer to end, of all that were answered.
  public var talkMilliseconds: Int64 = 0
  /// The most frequent first.
  public var failures: [Failure] = []
  /// Those of the last ``hourCount`` hours in which anything was counted, oldest first.
  public var hours: [Hour] = []

  /// Of a trunk that nothing is known of.
  public init() {}

  /// 0 to 1; `nil` without attempts.
  public var answerRatio: Double? { attempts > 0 ? Double(answered) / Double(attempts) : nil }
  /// `nil` where nothing was answered.
  public var averageDurationSeconds: Double? {
    answered > 0 ? Double(talkMilliseconds) / 1000 / Double(answered) : nil
  }
}
