public import AppProtocol
public import CallModel

/// A call that the built-in far end places to a number of the gateway's, as a carrier would.
public struct InboundCallOrder: Hashable, Sendable {
  /// As the Request-URI has it.
  public var number: E164Number
  /// Stands in From; `nil` withholds the number (RFC 3323).
  public var caller: E164Number?
  /// From the answer to the BYE of the far end; `nil`: until the other side hangs up, or
  /// ``FarEnd/Timing/maximumCallMilliseconds`` are over.
  public var talkMilliseconds: Int64?
  /// Whether what the far end hears is told as a WAV file.
  public var records: Bool

  /// By default it talks until the other side hangs up, and nothing is recorded.
  public init(number: E164Number, caller: E164Number?, talkMilliseconds: Int64? = nil, records: Bool = false) {
    self.number = number
    self.caller = caller
    self.talkMilliseconds = talkMilliseconds
    self.records = records
  }
}

/// What a call of the far end's own came to.
public struct InboundCallStep: Sendable {
  public enum Event: Sendable {
    /// A provisional response; the sound before an answer may come with it.
    case progress(status: Int, phrase: String, hasSound: Bool)
    case answered
    /// The first sound came in.
    case sound
    /// Figures of a second, as the far end sees them.
    case quality(CallQuality)
    /// The next bytes of the recording.
    case recorded([UInt8])
    /// What is to be overwritten in it, once all bytes are there.
    case recordingEnded([Patch])
    /// The last but for the recording. The failure is that of a call that never came up, or broke.
    indirect case ended(CallEndCause, CallFailure?)
  }

  /// Bytes that replace others of a recording.
  public struct Patch: Hashable, Sendable {
    /// Bytes from the start of the file.
    public var offset: Int
    /// Overwrite as many of the file.
    public var bytes: [UInt8]

    package init(offset: Int, bytes: [UInt8]) {
      self.offset = offset
      self.bytes = bytes
    }
  }

  /// Since the far end was told to call.
  public var milliseconds: Int64
  public var event: Event

  package init(milliseconds: Int64, _ event: Event) {
    self.milliseconds = milliseconds
    self.event = event
  }
}
