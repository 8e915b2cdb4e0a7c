public import CallEngine

extension RecordingArchive: RecordingLibrary {
  /// Why no recording can begin now, as words for an operator; `nil` where one can.
  public var shortage: String? {
    switch refusal {
    case nil: nil
    case .full: "recordings take all the room that they may: delete some, or raise 'recording-space'"
    case .noSpace: "the disk of the recordings is nearly full"
    case .tooMany: "as many recordings run as may at a time"
    case .closed: "the gateway is ending"
    }
  }

  /// The file as it is handed out, decrypted.
  public func sound(of recording: Recording) throws -> any RecordingSound { try reader(of: recording) }
}

extension RecordingReader: RecordingSound {}
