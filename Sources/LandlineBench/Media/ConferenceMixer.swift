/// What mixes conferences: ours or an anchor.
protocol ConferenceMixer: AnyObject {
  /// For the processor's time.
  var processIdentifier: Int32 { get }

  /// Opens conferences whose participants are all at one port of 127.0.0.1, over plain RTP.
  /// - Returns: where each participant sends, room by room.
  func confer(_ workload: ConferenceWorkload, port: UInt16) throws(BenchProblem) -> [UInt16]

  /// Ends every conference.
  func tearDown() throws(BenchProblem)
}

/// How mixers of a benchmark are started.
enum ConferencePriority {
  /// A mixer that waits for the processor leaves frames out or sends them late, and other work of the machine is not what
  /// is measured. Behind those who speak, before all else; where this user may not, as anybody.
  static let niceness = -17
}
