import CallModel
import LedgerCore
import RoutingCore
import SIPCore

/// What is known of one leg before anything is asked of anybody: whom it calls, at which price, over which trunks.
struct CallTerms {
  var destination: Destination
  /// `nil` where nobody is charged: no hold is written.
  var rating: CallOperation.Authorisation.Rating?
  /// ``E164Number/country``; `nil` for anything but a phone number.
  var country: Int?
  var isEmergency = false
  /// Whether nobody has to pay: an emergency number, a test number, or a number of the sandbox that costs nothing.
  var isGivenAway = false
  /// Longest call in seconds.
  var maximumSeconds: Int64
  /// Names of trunks that may carry it; empty for the gateway's own numbers and for addresses that are called directly.
  var trunks: [String] = []
  /// Whether the trunks are tried as they stand in ``trunks``, whatever their priorities say.
  var hasOwnOrder = false
  /// The peer of an address that no trunk stands for.
  var direct: CallTrunk?
  /// Where the call counts among what may be done within an hour; `nil` for what counts nowhere.
  var velocity: VelocityCounter.Mark?
  /// Set for what the gateway answers itself.
  var voice: GatewayVoice?
  /// Set for a conference.
  var room: RoomKey?
  /// Set for a user that is called.
  var user: CalledUser?
  /// Whether the caller offers video, which is told and not carried.
  var wantsVideo = false

  /// What the gateway answers itself.
  enum GatewayVoice {
    case number(TestNumber)
    case user(TestUser)
  }

  /// The frozen price; `nil` where the ledger is asked for a refusal only.
  var snapshot: RateSnapshot? {
    if case .rated(let snapshot) = rating { return snapshot }
    return nil
  }
}
