public import CallModel

/// What an account, or one of its users, may do within an hour, and what happens when it would be more.
///
/// Rules bound what a stolen key or a compromised app can cost: prepaid credit bounds it anyway, but an account may have
/// much of it.
public struct VelocityRule: Hashable, Sendable {
  /// Whose calls are counted together.
  public enum Party: String, Hashable, Sendable, CaseIterable {
    case account
    /// One user of one application; calls that are asked for over REST have none.
    case user
  }

  /// Which calls are counted.
  public enum Destinations: String, Hashable, Sendable, CaseIterable {
    case any
    /// Numbers of the countries of the account's caller numbers.
    case domestic
    /// Numbers of every other country.
    case foreign
    /// Numbers of the ranges that cost more than their country, where the operator lets them be called.
    case premium
    /// SIP addresses.
    case sip
  }

  /// What happens to a call, or to its account, once the limit is reached.
  public enum Consequence: String, Hashable, Sendable, CaseIterable {
    /// A line in the log and a count in the metrics, once an hour; the call goes on.
    case alarm
    /// The call is refused, and one that is up is not paid further.
    case refuse
    /// The account is locked: its calls end, and none begins until somebody unlocks it.
    case lock
  }

  /// Each account, or each user, has a count of its own.
  public var party: Party
  /// Only these calls are counted, and only these are refused by ``Consequence/refuse``.
  public var destinations: Destinations
  /// Calls in an hour; `nil` for any number of them.
  public var calls: Int?
  /// Of the account's currency in an hour, holds of calls that are up included; `nil` for any amount.
  public var spendMicro: MicroUnits?
  /// What comes once a limit would be passed.
  public var consequence: Consequence

  /// Without `calls` and `spendMicro` the rule limits nothing; the configuration refuses such a rule.
  public init(
    _ party: Party, to destinations: Destinations, calls: Int? = nil, spendMicro: MicroUnits? = nil,
    then consequence: Consequence
  ) {
    self.party = party
    self.destinations = destinations
    self.calls = calls
    self.spendMicro = spendMicro
    self.consequence = consequence
  }

  /// Where the configuration has none. Free numbers and emergency calls count for no rule.
  public static let standard = [
    VelocityRule(.account, to: .premium, calls: 20, spendMicro: 10_000_000, then: .lock),
    VelocityRule(.account, to: .foreign, calls: 1_000, spendMicro: 50_000_000, then: .lock),
    VelocityRule(.user, to: .foreign, calls: 100, spendMicro: 20_000_000, then: .refuse),
    VelocityRule(.account, to: .any, spendMicro: 100_000_000, then: .alarm),
    VelocityRule(.account, to: .any, spendMicro: 1_000_000_000, then: .refuse),
  ]

  /// `account to foreign numbers: 1000 calls or a spend of 50.00 in an hour`.
  public var text: String {
    let counted =
      switch destinations {
      case .any: "all destinations"
      case .domestic: "domestic numbers"
      case .foreign: "foreign numbers"
      case .premium: "premium numbers"
      case .sip: "SIP addresses"
      }
    let limits = [
      calls.map { "\($0) calls" }, spendMicro.map { "a spend of \($0.brief)" },
    ].compactMap { $0 }
    return "\(party.rawValue) to \(counted): \(limits.joined(separator: " or ")) in an hour"
  }
}
