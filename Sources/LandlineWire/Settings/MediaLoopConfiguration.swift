public import CallModel

/// What one media loop is started with. Several loops need different app ports, and should be given different
/// ``TrunkInterface/ports`` (``TrunkInterface/parts(of:into:)``): a port in quarantine is known to its own loop only.
public struct MediaLoopConfiguration: Sendable {
  /// A UDP port that apps talk to; every app of the shard shares it.
  public struct AppInterface: Hashable, Sendable {
    /// A numeric address of this machine. On a machine with several, the one packets shall leave from.
    public var bind: SIPHost
    /// 0: the system chooses.
    public var port: UInt16
    /// The numeric address that candidates name; `nil`: ``bind``.
    public var advertised: SIPHost?
    /// Whether the kernel drops what other machines send to the port, although the address is one that they reach.
    public var admitsOnlyThisMachine: Bool

    /// Nothing is checked before the loop starts; it refuses names in place of numeric addresses.
    public init(bind: SIPHost, port: UInt16, advertised: SIPHost? = nil, admitsOnlyThisMachine: Bool = false) {
      self.bind = bind
      self.port = port
      self.advertised = advertised
      self.admitsOnlyThisMachine = admitsOnlyThisMachine
    }
  }

  /// An address that trunks talk to, with a port of its own for each leg.
  public struct TrunkInterface: Hashable, Sendable {
    /// A numeric address of this machine.
    public var bind: SIPHost
    /// The numeric address that session descriptions name; `nil`: ``bind``.
    public var advertised: SIPHost?
    /// RTP goes on the even ports, RTCP on the odd one after each (RFC 3550 section 11).
    public var ports: ClosedRange<UInt16>

    /// Below the ports that Linux gives to programs that ask for any.
    public static let standardPorts: ClosedRange<UInt16> = 16_384...32_767

    /// Nothing is checked before the loop starts: numeric addresses, ports from 1024 on, at least one pair.
    public init(bind: SIPHost, advertised: SIPHost? = nil, ports: ClosedRange<UInt16> = standardPorts) {
      self.bind = bind
      self.advertised = advertised
      self.ports = ports
    }

    /// The RTP ports of all pairs that lie in ``ports``.
    var pairs: [UInt16] {
      let first = Int(ports.lowerBound) + Int(ports.lowerBound) % 2
      return stride(from: first, to: Int(ports.upperBound), by: 2).map { UInt16($0) }
    }

    /// Splits a range among loops, in pairs.
    public static func parts(of ports: ClosedRange<UInt16>, into count: Int) -> [ClosedRange<UInt16>] {
      let first = Int(ports.lowerBound) + Int(ports.lowerBound) % 2
      let pairs = (Int(ports.upperBound) + 1 - first) / 2
      guard count > 0, pairs >= count else { return [] }
      return (0..<count).map { part in
        let start = first + 2 * (pairs * part / count)
        let end = first + 2 * (pairs * (part + 1) / count) - 1
        return UInt16(start)...UInt16(end)
      }
    }
  }

  /// At most 16; each is a port that the loop opens at its start.
  public var app: [AppInterface]
  /// At most 16; ports are opened as calls reserve them.
  public var trunk: [TrunkInterface]
  /// The code point of RFC 2474 on every packet: expedited forwarding (RFC 3246, RFC 8837 for audio).
  public var differentiatedServices: UInt8 = 46
  /// Bytes that the kernel is asked to hold for each app port, each way; it may grant less (`net.core.rmem_max`):
  /// ``MediaLoopStatistics/receiveBufferBytes`` says what it did.
  public var appBufferBytes = 4_194_304
  /// The same for each trunk port: a second of one stream, and no more room for a flood.
  public var trunkBufferBytes = 65_536
  /// A port that was used is used again when nobody has sent to it for this long.
  public var quarantineMilliseconds: Int64 = 30_000
  /// After this time a port leaves quarantine although somebody still sends to it.
  public var quarantineLimitMilliseconds: Int64 = 600_000
  /// Descriptors kept open in quarantine. Above it the oldest are closed; their ports stay unused until their time.
  public var quarantinedDescriptors = 4_096
  /// Longest time that packets are gathered before they are looked at, in microseconds. How much of it is used depends
  /// on the load (``LoopPace``); 0: never gather.
  public var maximumTickMicroseconds: Int64 = 5_000
  /// Bridges at a time.
  public var maximumBridges = 4_096
  /// Pairs of trunk ports of one bridge at a time: one for each attempt that is still open.
  public var portsPerBridge = 24
  /// Proved app addresses of one bridge.
  public var addressesPerBridge = 16
  /// User fragments of one bridge: one, and one for each ICE restart.
  public var userFragmentsPerBridge = 16
  /// Commands that wait. What asks for something new is refused beyond it; what ends something never is.
  public var waitingCommands = 4_096
  /// From the command to close until the bridge is taken away although it has not said that it is done.
  public var closeTimeoutMilliseconds: Int64 = 1_000
  /// A fault that tests plant, to show that they would notice: of a thousand packets of sound so many are not sent. No
  /// configuration file and no user of the library can set it.
  package var plantedLossPerThousand = 0

  /// Nothing is checked before the loop starts.
  public init(app: [AppInterface], trunk: [TrunkInterface]) {
    self.app = app
    self.trunk = trunk
  }

  /// App interfaces and trunk interfaces at most, each: a bound on descriptors and buffers that nobody meant.
  static let maximumInterfaces = 16

  func validate() throws(InvalidValue) {
    func check(_ isSo: Bool, _ rule: String, _ problem: String, accepted: String) throws(InvalidValue) {
      if !isSo { throw InvalidValue.media(rule, problem, accepted: accepted) }
    }
    try check(
      app.count <= Self.maximumInterfaces && trunk.count <= Self.maximumInterfaces, "media.interfaces",
      "there are too many interfaces of one kind", accepted: "at most \(Self.maximumInterfaces) each")
    let hosts =
      app.flatMap { [$0.bind, $0.advertised ?? $0.bind] } + trunk.flatMap { [$0.bind, $0.advertised ?? $0.bind] }
    for host in hosts {
      if case .name = host {
        throw .media("media.address", "\(host) is a name", accepted: "a numeric address, as 192.0.2.1 or 2001:db8::1")
      }
    }
    for interface in trunk {
      try check(
        interface.ports.lowerBound >= 1024 && !interface.pairs.isEmpty, "media.ports",
        "the ports \(interface.ports) hold no pair", accepted: "ports from 1024 on, an even one with the next at least")
    }
    try check(
      differentiatedServices < 64, "media.dscp", "\(differentiatedServices) is no DSCP", accepted: "0 to 63, as 46")
    try check(
      (1...1_000_000).contains(maximumBridges) && waitingCommands > 0 && portsPerBridge > 0 && addressesPerBridge > 0
        && userFragmentsPerBridge > 0 && quarantinedDescriptors >= 0,
      "media.limits", "a limit is out of range", accepted: "positive limits, at most 1000000 bridges")
    try check(
      quarantineMilliseconds >= 0 && quarantineLimitMilliseconds >= quarantineMilliseconds
        && quarantineLimitMilliseconds <= Self.maximumMilliseconds
        && (0...Self.maximumMilliseconds).contains(closeTimeoutMilliseconds)
        && (0...20_000).contains(maximumTickMicroseconds),
      "media.times", "a time is out of range",
      accepted: "times from 0 to one day, the limit of quarantine not below its time, a tick of at most 20000 µs")
    let buffers = 1...1_073_741_823
    try check(
      buffers.contains(appBufferBytes) && buffers.contains(trunkBufferBytes), "media.buffers",
      "a socket buffer is out of range", accepted: "\(buffers.lowerBound) to \(buffers.upperBound) bytes")
  }

  private static let maximumMilliseconds: Int64 = 86_400_000
}

extension InvalidValue {
  static func media(_ rule: String, _ problem: String, accepted: String) -> InvalidValue {
    InvalidValue(kind: "media loop", rule: rule, offset: nil, problem: problem, accepted: accepted)
  }
}
