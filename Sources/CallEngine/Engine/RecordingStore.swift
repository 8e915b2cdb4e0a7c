public import CallModel

/// What is known of a recording beside its sound.
public struct Recording: Hashable, Sendable {
  /// Whose sound it is.
  public enum Subject: Hashable, Sendable {
    /// Each side of a call is a channel: the caller left, the called side right. Of a call that is in a conference, the one
    /// channel is what comes from its participant.
    case call(CallID)
    /// What is heard in a conference, in one channel.
    case conference(application: String, ConferenceID)
  }

  /// How it stands, or why it ended.
  public enum State: String, Hashable, Sendable, CaseIterable {
    case running
    /// It was stopped, or its call or conference ended.
    case complete
    /// The gateway itself ended; what was recorded up to then is there.
    case interrupted
    /// The environment has no room for more; what was recorded up to then is there.
    case full
    /// The disk took no more, or not fast enough; what was recorded up to then is there.
    case failed
  }

  public var id: RecordingID
  public var subject: Subject
  public var environment: String
  public var account: AccountName
  public var format: RecordingFormat
  public var channels: Int
  public var startedAt: Instant
  public var state: State
  /// Of sound; 0 while it is running.
  public var milliseconds: Int64
  /// That it takes on the disk; 0 while it is running.
  public var bytes: Int64

  /// - Parameter channels: `nil` for as many as the subject has by itself.
  public init(
    id: RecordingID, subject: Subject, environment: String, account: AccountName, format: RecordingFormat,
    startedAt: Instant, channels: Int? = nil
  ) {
    self.id = id
    self.subject = subject
    self.environment = environment
    self.account = account
    self.format = format
    let isCall = if case .call = subject { true } else { false }
    self.channels = channels ?? (isCall ? 2 : 1)
    self.startedAt = startedAt
    state = .running
    milliseconds = 0
    bytes = 0
  }
}

/// Where it is kept what recordings there are; their sound is in files. What was accepted is durable.
public protocol RecordingStore: Sendable {
  /// Makes a row, or replaces the one of the same id.
  func keep(_ recording: Recording) async throws
  func recording(_ id: RecordingID, environment: String) async throws -> Recording?
  /// Newest first.
  func recordings(_ query: RecordingQuery) async throws -> [Recording]
  /// - Returns: `false` where there is no such row.
  func removeRecording(_ id: RecordingID, environment: String) async throws -> Bool
}

/// Which recordings, and from where on.
public struct RecordingQuery: Hashable, Sendable {
  /// Most recordings of one answer.
  public static let maximumLimit = 1000
  public var environment: String
  /// Of this account alone; `nil` for all.
  public var account: AccountName?
  /// Of this call alone; `nil` for all.
  public var call: CallID?
  /// Of these alone; `nil` for all.
  public var state: Recording.State?
  /// Begun before this instant; `nil` for all.
  public var before: Instant?
  /// Older than the recording of this id, which was the last one of the answer before; `nil` from the newest on.
  public var after: RecordingID?
  /// Most recordings of the answer, 1 to ``maximumLimit``.
  public var limit: Int

  /// Brings `limit` into 1 to ``maximumLimit``; the other conditions are open until they are set.
  public init(environment: String, limit: Int = 50) {
    self.environment = environment
    self.limit = min(max(limit, 1), RecordingQuery.maximumLimit)
  }
}

/// Recordings with their sound.
public protocol RecordingLibrary: Sendable {
  /// What there is.
  var store: any RecordingStore { get }
  /// Why no recording can begin now, as words for an operator; `nil` where one can.
  var shortage: String? { get }
  /// The file as it is handed out, decrypted.
  /// - Throws: what is wrong with the file, in words for an operator.
  func sound(of recording: Recording) throws -> any RecordingSound
  /// Deletes row and sound.
  /// - Returns: `false` where there is no such recording.
  /// - Throws: where it is running, and what the store throws.
  func remove(_ id: RecordingID) async throws -> Bool
}

/// A file of sound, of which parts can be read in any order.
public protocol RecordingSound: Sendable {
  var byteCount: Int64 { get }
  /// - Returns: at most `count` bytes, fewer at the end.
  /// - Throws: what is wrong with that part, in words for an operator.
  func read(from offset: Int64, count: Int) throws -> [UInt8]
}
