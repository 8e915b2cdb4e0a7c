/// How a recording is kept and handed out.
public enum RecordingFormat: String, Hashable, Sendable, CaseIterable {
  /// Linear samples of 16 bits in a WAV file.
  case wav
  /// Opus in an Ogg file (RFC 7845).
  case opus

  /// The type of the file (RFC 6381, RFC 5334).
  public var mediaType: String { self == .wav ? "audio/wav" : "audio/ogg" }
  /// Behind the dot of a file's name.
  public var fileExtension: String { self == .wav ? "wav" : "opus" }
}

/// What is to become of the recording of a call or a conference.
public enum RecordingOrder: Hashable, Sendable {
  /// It begins. Whether it is announced: a voice says so to all who are recorded.
  case begin(RecordingFormat, isAnnounced: Bool)
  /// Silence takes the place of what is said, as for the number of a card; or it goes on.
  case pause(Bool)
  case end
}

/// A recording that runs.
public struct RunningRecording: Hashable, Sendable {
  public var id: RecordingID
  public var format: RecordingFormat
  public var startedAt: Instant
  public var isPaused = false
  /// Whether a voice says so to all who are recorded, and to whoever comes later.
  public var isAnnounced: Bool

  public init(id: RecordingID, format: RecordingFormat, startedAt: Instant, isAnnounced: Bool = false) {
    self.id = id
    self.format = format
    self.startedAt = startedAt
    self.isAnnounced = isAnnounced
  }
}

/// That calls are recorded from their answer on, without anybody asking for it each time.
public struct RecordingRule: Hashable, Sendable {
  public var format: RecordingFormat
  /// Whether a voice says so to both sides.
  public var isAnnounced: Bool

  /// By default it is announced.
  public init(_ format: RecordingFormat, isAnnounced: Bool = true) {
    self.format = format
    self.isAnnounced = isAnnounced
  }
}
