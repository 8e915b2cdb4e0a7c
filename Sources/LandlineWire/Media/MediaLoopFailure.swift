/// Why a media loop did not do what it was asked. The raw value is stable: counters, logs and tests match on it.
public enum MediaLoopFailure: String, Error, Hashable, Sendable, CaseIterable {
  /// Every pair of ports is in use or in quarantine.
  case portsExhausted = "media.portsExhausted"
  /// Other programs hold all the ports that were tried.
  case portsTaken = "media.portsTaken"
  /// The system has no descriptor or no memory for another socket.
  case descriptors = "media.descriptors"
  /// The address to bind to is not there (any more).
  case address = "media.address"
  /// There is no trunk interface of that number.
  case interface = "media.interface"
  /// As many bridges as are allowed are open.
  case bridges = "media.bridges"
  /// The bridge has as many ports as it may have.
  case bridgePorts = "media.bridgePorts"
  /// A bridge of that identifier is open already, or is being closed.
  case duplicate = "media.duplicate"
  /// The bridge could not be made.
  case bridge = "media.bridge"
  /// The loop has been shut down.
  case stopped = "media.stopped"
}
