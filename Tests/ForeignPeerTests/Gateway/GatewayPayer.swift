import CallModel
import LedgerCore

/// An application of a gateway under test, and the account that pays for its calls.
struct GatewayPayer: Sendable {
  /// Of the application and of the account.
  let name: String
  let key: String
  var environment = "production"
  /// On the account at the start.
  var credit: MicroUnits = 10_000_000
  /// Whether the ledger has the account at all.
  var isInLedger = true
  /// Whether the account has prices.
  var hasPlan = true
  var caps = AccountCaps()
  /// What is done to the account once its money is there.
  var change: AccountAdministration.Change?

  /// Base64 of 16 bytes.
  static let secret = "AAECAwQFBgcICQoLDA0ODw=="

  static let main = GatewayPayer(name: "main", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e01")
  /// Has credit for so many seconds.
  static func short(seconds: Int64) -> GatewayPayer {
    GatewayPayer(name: "short", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e02", credit: GatewayRate.cost(seconds: seconds))
  }
  static let poor = GatewayPayer(name: "poor", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e03", credit: 0)
  static let bare = GatewayPayer(name: "bare", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e04", hasPlan: false)
  static let trial = GatewayPayer(
    name: "trial", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e05", environment: "sandbox", credit: 1_000_000)
  static let sandboxPoor = GatewayPayer(
    name: "broke", key: "5f0e7a52-8c1d-4c0a-9d3e-2b6a1f4c7e06", environment: "sandbox", credit: 0)
}

/// The one price of a gateway under test, and what it makes of a call: counted here on its own.
enum GatewayRate {
  /// Begins with its country code; no other country has a price.
  static let number = "+46700000001"
  static let unpriced = "+4915112345678"
  static let caller = "+46101234567"
  /// 0.60 a minute and 0.05 a call, by the second.
  static let deck = "prefix,name,rate,fee,initial,increment\n46,Sweden,0.60,0.05,1,1\n"
  private static let fee: MicroUnits = 50_000
  private static let perSecond: MicroUnits = 10_000

  static func cost(seconds: Int64) -> MicroUnits { fee + perSecond * seconds }
  /// Each second that was begun is paid for.
  static func seconds(milliseconds: Int64) -> Int64 { max(1, (milliseconds + 999) / 1_000) }
}
