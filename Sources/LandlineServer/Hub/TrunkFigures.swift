public import CallModel

/// What became of the attempts over one trunk lately.
public struct TrunkFigures: Hashable, Sendable {
  /// Attempts that ended in one way.
  public struct Failure: Hashable, Sendable {
    public var code: CallFailureCode
    /// `nil` where no final response came.
    public var sipStatus: Int?
    public var count: Int
    public var lastAt: Instant

    public init(code: CallFailureCode, sipStatus: Int?, count: Int, lastAt: Instant) {
      self.code = code
      self.sipStatus = sipStatus
      self.count = count
      self.lastAt = lastAt
    }
  }

  /// How far back the figures go.
  public static let windowSeconds: Int64 = 3600

  /// INVITEs whose calls are over.
  public var attempts = 0
  /// Those among them that were answered.
  public var answered = 0
  /// From answer to end, of all that were answered.
  public var talkMilliseconds: Int64 = 0
  /// The most frequent first.
  public var failures: [Failure] = []

  public init() {}

  /// 0 to 1; `nil` without attempts.
  public var answerRatio: Double? { attempts > 0 ? Double(answered) / Double(attempts) : nil }
  /// `nil` where nothing was answered.
  public var averageDurationSeconds: Double? {
    answered > 0 ? Double(talkMilliseconds) / 1000 / Double(answered) : nil
  }
}
