public import CallEngine
public import CallModel
import LedgerCore
import RoutingCore

/// A stolen key of an application: whoever has it opens sessions of users that he makes up and dials the numbers that pay
/// him, in every country he can think of, for an hour. What he can cost must not be more than the configuration states.
public struct FraudDrill: Sendable {
  /// Numbers that are dialled.
  public var calls: Int
  /// Countries that the account may call.
  public var countries: EngineConfiguration.Countries
  /// What stands between the thief and the credit.
  public var velocity: [VelocityRule]

  /// Numbers dialled within the drill's hour unless said otherwise.
  public static let defaultCalls = 10_000
  /// What ``init(calls:countries:velocity:)`` takes as it is; other numbers are taken as the nearest of these.
  public static let callsAccepted = 1...99_999
  /// The thief's users, each with a session that may have as many calls as any.
  static let users = 40
  /// Micro-units: far more than any rule lets be spent.
  static let credit: MicroUnits = 100_000_000_000
  static let homeCountry = 46

  /// The gateway as it is without a line of configuration, for an account with a Swedish number.
  public init(
    calls: Int = defaultCalls, countries: EngineConfiguration.Countries = .ofCallerNumbers,
    velocity: [VelocityRule] = VelocityRule.standard
  ) {
    self.calls = min(max(calls, FraudDrill.callsAccepted.lowerBound), FraudDrill.callsAccepted.upperBound)
    self.countries = countries
    self.velocity = velocity
  }

  /// Beginnings of ordinary numbers of forty countries besides the account's own, with the digits that follow.
  static let abroad: [(prefix: String, digits: Int)] = [
    ("1202555", 4), ("447700", 6), ("4915112", 6), ("33612", 6), ("34612", 6), ("39312", 7), ("31612", 6), ("32470", 6),
    ("35386", 7), ("37120", 6), ("37250", 6), ("37061", 6), ("48512", 6), ("420602", 6), ("421905", 6), ("43664", 7),
    ("4179", 7), ("4520", 6), ("4740", 6), ("35840", 7), ("351912", 6), ("30694", 7), ("35988", 7), ("40712", 6),
    ("38160", 7), ("38591", 7), ("38761", 6), ("35567", 7), ("21620", 6), ("21261", 7), ("21355", 7), ("22177", 7),
    ("234803", 7), ("25261", 7), ("92300", 7), ("88017", 8), ("63917", 7), ("535", 7), ("67570", 6), ("22507", 8),
  ]
  /// Beginnings of numbers that cost more than their country.
  static let premium = ["44909879", "4487112", "3389912", "8816123", "88213", "97912345"]

  /// Prices of what is dialled: a minute at home costs 0.06, abroad up to 2.
  static var deck: String {
    let abroad = FraudDrill.abroad.enumerated().map { index, country in
      "\(country.prefix),Abroad,EUR,0.\(50 + index),60,0,60,60,0"
    }
    return (["prefix,name,currency,rate,unit,fee,initial,increment,grace", "46,Sweden,EUR,0.06,60,0,60,1,0"] + abroad)
      .joined(separator: "\n") + "\n"
  }

  /// What is dialled: eight in ten abroad, one at home, one dear.
  static func target(_ random: inout SeededGenerator) -> String {
    func digits(_ count: Int) -> String { (0..<count).map { _ in "\(random.index(10))" }.joined() }
    switch random.weighted([800, 100, 100]) {
    case 0:
      let country = abroad[random.index(abroad.count)]
      return "+" + country.prefix + digits(country.digits)
    case 1: return "+4670" + digits(7)
    default: return "+" + premium[random.index(premium.count)] + digits(4)
    }
  }

  /// What the rules let an account spend on some destinations within the hour; `nil` for any amount.
  func bound(to destinations: VelocityRule.Destinations) -> MicroUnits? {
    velocity.filter {
      $0.party == .account && $0.consequence != .alarm && ($0.destinations == .any || $0.destinations == destinations)
    }.compactMap(\.spendMicro).min()
  }

  /// For everything: the smaller of the rule for all and the sum of those for each.
  var bound: MicroUnits? {
    let all = bound(to: .any)
    let each = [bound(to: .domestic), bound(to: .foreign), bound(to: .premium)]
    guard each.allSatisfy({ $0 != nil }) else { return all }
    let sum = each.reduce(0) { $0 + ($1 ?? 0) }
    return all.map { min($0, sum) } ?? sum
  }

  func apply(to configuration: inout EngineConfiguration) {
    for index in configuration.environments.indices {
      configuration.environments[index].countries = countries
      configuration.environments[index].velocity = velocity
      configuration.environments[index].callerCountries = [
        AccountName(unchecked: GatewayScene.accountName(0)): [FraudDrill.homeCountry]
      ]
    }
  }

  /// Runs the drill once.
  /// - Throws: ``GatewayViolation`` where the gateway broke another of its rules.
  public func run(seed: UInt64) throws(GatewayViolation) -> FraudReport {
    let scene: GatewayScene
    do {
      scene = try GatewayScene(seed: seed, hours: 1, canary: nil, isTraced: false, drill: self)
    } catch {
      throw GatewayViolation(
        seed: seed, hours: 1, canary: nil, atMilliseconds: 0, rule: "set-up", detail: "\(error)", trace: [])
    }
    scene.run()
    if let finding = scene.finding { throw finding }
    return FraudReport(scene, self)
  }
}

/// What a drill cost, beside what it may cost.
public struct FraudReport: Hashable, Sendable {
  /// Decides the numbers that were dialled and all else that is left to chance.
  public var seed: UInt64
  /// Calls that were asked for.
  public var calls: Int
  /// Calls that were answered.
  public var answered: Int
  /// Country calling codes of the answered ones.
  public var countries: [Int]
  /// How calls that got nowhere were refused, by the ledger's or the engine's word.
  public var refusals: [String: Int]
  /// What the account lost.
  public var lossMicro: MicroUnits
  /// The part of the loss that went to countries other than the account's own.
  public var foreignLossMicro: MicroUnits
  /// What the configuration lets it lose; `nil` where nothing is stated.
  public var boundMicro: MicroUnits?
  /// What the rules let calls abroad cost within the hour; `nil` where none limits them.
  public var foreignBoundMicro: MicroUnits?
  /// Why the account was locked; `nil` where it was not.
  public var lockReason: String?
  /// Virtual milliseconds until then.
  public var lockedAfterMilliseconds: Int64?

  /// Whether the loss is within a stated bound.
  public var isWithinBound: Bool {
    guard let boundMicro else { return false }
    return lossMicro <= boundMicro && foreignBoundMicro.map { foreignLossMicro <= $0 } ?? true
  }

  init(_ scene: GatewayScene, _ drill: FraudDrill) {
    seed = scene.seed
    calls = scene.report.calls
    refusals = scene.refusalNames
    lossMicro = 0
    foreignLossMicro = 0
    var codes: Set<Int> = []
    answered = 0
    for hold in scene.ledger.holds where hold.answeredAt != nil {
      answered += 1
      let cost = hold.cost ?? 0
      lossMicro += cost
      guard let number = try? E164Number(hold.destination) else { continue }
      codes.insert(number.country)
      if number.country != FraudDrill.homeCountry { foreignLossMicro += cost }
    }
    countries = codes.sorted()
    boundMicro = drill.bound
    foreignBoundMicro = drill.bound(to: .foreign)
    lockReason = scene.lock?.reason
    lockedAfterMilliseconds = scene.lock?.atMilliseconds
  }
}

extension GatewayPlan {
  /// A stolen key: everybody answers, nobody hangs up, nothing else is wrong.
  init(_ drill: FraudDrill, _ random: inout SeededGenerator) {
    window = 3_600_000
    devices = [Int](repeating: 1, count: FraudDrill.users)
    ports = 2048
    credits = [FraudDrill.credit] + [MicroUnits](repeating: 0, count: GatewayPlan.accountCount - 1)
    caps = [Int64?](repeating: nil, count: GatewayPlan.accountCount)
    for number in 1...drill.calls {
      calls.append(
        Call(
          number: number, app: random.index(apps), startsAt: 2000 + random.number(0...(window - 10_000)),
          target: FraudDrill.target(&random), callee: Callee(conduct: .answers, ringsAfter: 200, answersAfter: 500),
          deeds: [], isEmergency: false))
    }
  }
}
