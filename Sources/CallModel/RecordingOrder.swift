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
  case begin(RecordingOptions)
  /// Silence takes the place of what is said, as for the number of a card; or it goes on.
  case pause(Bool)
  case end
}

/// How something is recorded, and how those who are recorded know of it.
public struct RecordingOptions: Hashable, Sendable {
  public var format: RecordingFormat
  /// Whether a voice says so to all who are recorded, and to whoever comes later.
  public var isAnnounced: Bool
  /// Whether a short tone is heard every 15 seconds as long as it runs.
  public var hasTone: Bool
  /// Of a conference: whether each participant is recorded apart as well, as a recording of its call.
  public var hasTracks: Bool

  /// By default nothing is heard of it.
  public init(
    _ format: RecordingFormat, isAnnounced: Bool = false, hasTone: Bool = false, hasTracks: Bool = false
  ) {
    self.format = format
    self.isAnnounced = isAnnounced
    self.hasTone = hasTone
    self.hasTracks = hasTracks
  }
}

/// A recording that runs.
public struct RunningRecording: Hashable, Sendable {
  public var id: RecordingID
  public var options: RecordingOptions
  public var startedAt: Instant
  public var isPaused = false
  /// An app of the call began it, and may end it.
  public var isByApp = false

  public init(id: RecordingID, _ options: RecordingOptions, startedAt: Instant) {
    self.id = id
    self.options = options
    self.startedAt = startedAt
  }
}
