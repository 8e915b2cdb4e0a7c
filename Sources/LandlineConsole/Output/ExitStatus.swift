/// What the process tells its caller. The numbers are an interface.
package enum ExitStatus: Int32, Sendable {
  case ok = 0
  /// A fault of ours.
  case failed = 1
  /// The command line is wrong: an unknown option, a bad amount, date, name or key.
  case usage = 2
  case notFound = 3
  /// The ledger or the gateway said no: credit, caps, locks; a trunk failed its test; a call went another way than expected.
  case refused = 4
  /// The key was used with other content, the name is taken, the call has ended.
  case conflict = 5
  case booksBroken = 6
  case databaseUnavailable = 7
  /// The file system does not allow it.
  case notPermitted = 8
  /// The configuration file is not there or cannot be used.
  case configurationBroken = 9
  /// The other side of a call, or the way to it, refused with SIP; or the sound was lost.
  case callFailed = 10
  /// No connection to the gateway could be made, or it was lost.
  case notReachable = 11
  /// Something did not come in time.
  case timedOut = 12
  case interrupted = 130
  /// Whoever read the output has read enough: as a process ends that SIGPIPE ends, without a word.
  case outputClosed = 141
}
