/// A bug planted on purpose, between a core and the world: the oracles must find each within a hundred seeds.
public enum GatewayCanary: String, Sendable, CaseIterable {
  /// A settlement charges a second time under another key.
  case doubleSettle
  /// A hold of a call that was never answered is not given back.
  case forgottenVoid
  /// A trunk's leg is not hung up.
  case missingBye
  /// A media port is given to two calls.
  case portTwice
  /// An extension is told as granted and was never made.
  case lostExtension
  /// A log line holds the trunk's password.
  case secretInLog
  /// A call record holds the app's secret.
  case secretInRecord
  /// A call is connected without a hold.
  case freeCall
  /// The bridge of a call that is over stays open.
  case forgottenClose
  /// A record is never kept.
  case lostRecord
  /// A record tells another price than the ledger.
  case wrongRecord
  /// Calls of a killed node are not recovered.
  case lostRecovery
  /// A call that nobody answered is charged.
  case unansweredCharge
  /// The call goes on when its credit is used up.
  case deafToCredit
  /// The app is told twice that its call is over.
  case endTwice
  /// Talk time of a dead node's calls is taken from its wall clock, which may have been set.
  case wallClockTalk
}
