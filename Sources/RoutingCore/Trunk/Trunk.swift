public import CallModel

/// A SIP peer that carries calls, as the configuration describes it.
public struct Trunk: Hashable, Sendable {
  /// Most characters of a name.
  public static let maximumNameLength = 64

  /// Stands in records, logs and failures.
  public let name: String
  /// Lower is tried first.
  public var priority: UInt16
  /// Share of the calls among trunks of one priority; 0 only when none of the others is left.
  public var weight: UInt16
  /// Calls at a time and new calls a second; without them any number.
  public var limits: TrunkCapacity.Limits
  /// How often the trunk is pinged, and what takes it down and up again.
  public var healthPolicy: TrunkHealth.Policy
  /// After which failures of this trunk a call goes on to the next one.
  public var failover: FailoverPolicy
  /// Takes no new call; live ones go on to their end.
  public var isDraining: Bool

  /// A peer that is no trunk of the configuration: with a blank in its name it can be taken for none of those.
  package init(peer name: String) {
    self.name = name
    priority = 10
    weight = 1
    limits = TrunkCapacity.Limits()
    healthPolicy = .standard
    failover = .standard
    isDraining = false
  }

  /// - Throws: ``InvalidValue`` with the rule `trunk.name`.
  public init(
    name: String, priority: UInt16 = 10, weight: UInt16 = 1, limits: TrunkCapacity.Limits = TrunkCapacity.Limits(),
    healthPolicy: TrunkHealth.Policy = .standard, failover: FailoverPolicy = .standard, isDraining: Bool = false
  ) throws(InvalidValue) {
    let bytes = Array(name.utf8)
    let offender = bytes.firstIndex { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): false
      default: true
      }
    }
    guard !bytes.isEmpty, bytes.count <= Trunk.maximumNameLength, offender == nil else {
      let problem = offender.map { "\(InvalidValue.name(of: bytes[$0])) cannot stand in a name" }
      throw InvalidValue(
        kind: "trunk", rule: "trunk.name", offset: offender,
        problem: problem ?? "the name has \(bytes.count) characters",
        accepted: "1 to \(Trunk.maximumNameLength) letters, digits, '-', '_' and '.', such as carrier-1")
    }
    self.name = name
    self.priority = priority
    self.weight = weight
    self.limits = limits
    self.healthPolicy = healthPolicy
    self.failover = failover
    self.isDraining = isDraining
  }
}
