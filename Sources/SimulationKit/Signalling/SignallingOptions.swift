/// How the network between the agents behaves.
public struct SignallingOptions: Hashable, Sendable {
  /// Calls between one pair of agents; the next pair has the next seed.
  public static let defaultChunk = 10
  /// Most calls of one run of several pairs of agents; more are taken as this many.
  public static let maximumCalls = 10_000_000
  /// More would leave no call that comes up.
  public static let maximumPerThousand: UInt64 = 500

  /// Datagrams that never arrive, in thousandths.
  public var lostPerThousand: UInt64 = 0
  /// Datagrams that arrive twice.
  public var duplicatedPerThousand: UInt64 = 0
  /// Datagrams that are overtaken by later ones.
  public var reorderedPerThousand: UInt64 = 0
  /// Datagrams that arrive damaged.
  public var damagedPerThousand: UInt64 = 0
  /// Most times that the network is cut in one direction for some seconds, for each pair of agents.
  public var cuts = 0
  /// For tests of the checks: what is broken on purpose.
  package var planted: PlantedSignallingFault?

  /// A calm network: nothing is lost, repeated, held back or damaged.
  public init() {}

  /// Nothing is lost; delays vary a little.
  public static let calm = SignallingOptions()

  /// Some of everything.
  public static let rough: SignallingOptions = {
    var options = SignallingOptions()
    options.lostPerThousand = 100
    options.duplicatedPerThousand = 50
    options.reorderedPerThousand = 100
    options.damagedPerThousand = 10
    options.cuts = 1
    return options
  }()

  /// What a call can just live with.
  public static let storm: SignallingOptions = {
    var options = SignallingOptions()
    options.lostPerThousand = 300
    options.duplicatedPerThousand = 200
    options.reorderedPerThousand = 300
    options.damagedPerThousand = 50
    options.cuts = 4
    return options
  }()
}

/// A fault made on purpose: the checks must report it.
package enum PlantedSignallingFault: String, Sendable, CaseIterable {
  /// The network writes another tag into every answer to an INVITE.
  case rewrittenTag
  /// No ACK arrives, and nobody counts that as lost.
  case swallowedAcknowledgements
  /// No BYE arrives, and nobody counts that as lost.
  case swallowedByes
  /// The network alters the session description of every other answer.
  case alteredDescription
  /// An agent tells every tenth end twice.
  case repeatedEnd
  /// An agent does not tell every tenth end.
  case untoldEnd
  /// An agent tells the peer's offers twice.
  case repeatedOffer
  /// Every tenth datagram is damaged by the sender itself.
  case unreadableMessage
  /// One call is never hung up by anybody, and keeps being refreshed.
  case endlessCall
}
