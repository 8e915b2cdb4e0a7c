import CallModel
import CallStory
import PeerKit

/// A situation that a rule explains, brought about with a peer of others.
struct ExplainRow: Sendable {
  /// What there is to explain.
  enum Outcome: Sendable {
    case call(String, environment: String)
    /// Refused before there was a call.
    case refused(CallFailure)

    static func call(_ id: String) -> Outcome { .call(id, environment: "production") }
  }

  /// Of ``CallRule``.
  let rule: String
  let peer: String
  /// Whether nothing is likelier than what the rule says.
  let leads: Bool
  /// What the trunk of the row's own needs, if it has one.
  let trunk: ExplainTrunk?
  let run: @Sendable (ExplainStage) async throws -> Outcome

  init(
    _ rule: String, _ peer: String, leads: Bool = true, trunk: ExplainTrunk? = nil,
    _ run: @escaping @Sendable (ExplainStage) async throws -> Outcome
  ) {
    self.rule = rule
    self.peer = peer
    self.leads = leads
    self.trunk = trunk
    self.run = run
  }

  /// Rules about what no peer of others here can be made to do: a carrier that loses packets and reports it, a link with a
  /// queue, a network that is cut for longer than a call outlives it. Those about users, numbers and conferences need what
  /// this stage has not. `CallStoryTests` has their situations.
  static let elsewhere: Set = [
    "trunkLoss", "trunkFarLoss", "thinLink", "pathLost", "wayLost", "userNotThere", "userAppsTooOld", "userBusy",
    "userDeclined", "userRangOut", "userCameLate", "answeredElsewhere", "numberNotOurs", "nobodyToGoTo",
    "callerTurnedAway", "unsignedCaller", "identityFailed", "identityLate", "inboundNotCovered", "forwardedInALoop",
    "numberFull", "transferFailed", "transferred", "participantLoss", "participantMuted", "conferenceAlone",
    "clockDrift",
  ]

  static let all = kamailio + refusedAtTheDoor + answered + course
}

/// The trunk of one row: an address of loopback that no other row has, and who lives there.
struct ExplainTrunk: Sendable {
  enum Peer: Sendable {
    /// Statements of Kamailio's language for calls to the row's address.
    case kamailio(String, transport: String)
    /// A script of SIPp with its keys; it takes calls without end.
    case sipp(String, keys: [String: String], echoes: Bool)
    /// A baresip, which speaks by itself.
    case baresip
    /// Nobody.
    case nobody(transport: String)
  }

  var peer: Peer
  /// Lines of the configuration.
  var lines: [String]

  static func kamailio(_ statements: String, _ lines: [String] = [], transport: String = "udp") -> ExplainTrunk {
    ExplainTrunk(peer: .kamailio(statements, transport: transport), lines: lines)
  }

  static func sipp(
    _ script: String, _ lines: [String] = [], keys: [String: String] = [:], echoes: Bool = false
  ) -> ExplainTrunk {
    ExplainTrunk(peer: .sipp(script, keys: keys, echoes: echoes), lines: lines)
  }
}
