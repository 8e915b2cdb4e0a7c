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
  /// The sound of a participant goes to another room than that of its conference.
  case wrongRoom
  /// An operator's word about a conference is lost.
  case forgottenOrder
  /// Talk time of a dead node's calls is taken from its wall clock, which may have been set.
  case wallClockTalk

  /// A device is not told that the call it rings for is over.
  case ringsOn
  /// A device is told twice of a call for its user.
  case ringsTwice
  /// A device is told of a call after the call's end.
  case lateRing
  /// A device that listens is not told of a call for its user.
  case forgottenDevice
  /// A device of another user rings.
  case strangerRings
  /// The caller's headers do not reach the devices.
  case headersLost
  /// Another caller is shown than the one who calls.
  case wrongCaller
  /// Devices are told that the caller gave up where another device has answered.
  case wrongEnd
  /// A missed call is not shown as missed.
  case missedLost
  /// Another device is named than the one that answered.
  case wrongDevice
  /// A second device is told that its answer was taken.
  case twoAnswer
  /// The media of a device that lost stay open beside those of the one that answered.
  case legLeft
  /// A call for a user costs something.
  case chargedUser

  /// Whether only calls for users have it.
  var isOfUsers: Bool {
    switch self {
    case .doubleSettle, .forgottenVoid, .missingBye, .portTwice, .lostExtension, .secretInLog, .secretInRecord,
      .freeCall,
      .forgottenClose, .lostRecord, .wrongRecord, .lostRecovery, .unansweredCharge, .deafToCredit, .endTwice,
      .wallClockTalk, .wrongRoom, .forgottenOrder:
      false
    case .ringsOn, .ringsTwice, .lateRing, .forgottenDevice, .strangerRings, .headersLost, .wrongCaller, .wrongEnd,
      .missedLost, .wrongDevice, .twoAnswer, .legLeft, .chargedUser:
      true
    }
  }
}
