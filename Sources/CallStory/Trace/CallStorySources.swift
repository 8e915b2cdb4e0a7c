public import CallEngine

/// All that a story is told from. Each part may be missing; the story says what it does not know.
public struct CallStorySources: Sendable {
  /// Of a call that is over.
  public var record: CallRecord?
  /// Of a call that is up.
  public var live: CallSnapshot?
  /// `nil` where none is kept, or where it cannot be read.
  public var trace: CallTrace?
  /// `nil` where nothing was read from the ledger.
  public var money: CallMoney?
  /// What the configuration says now of the trunks that the call tried; by name.
  public var trunks: [String: TrunkFacts]

  /// What rules need to know of a trunk's configuration.
  public struct TrunkFacts: Decodable, Hashable, Sendable {
    /// Where the trunk is reached: `sip:carrier.example:5060;transport=tcp`.
    public var uri: String
    /// Codec names in the order offered: `opus`, `PCMA`.
    public var codecs: [String]
    /// `none`, `offered`, `required`.
    public var encryption: String
    /// For digest authentication; `nil` for a trunk without it.
    public var username: String?
    /// How From is filled: `caller`, or a fixed user.
    public var fromUser: String
    /// Whether P-Asserted-Identity or P-Preferred-Identity is sent.
    public var assertsIdentity: Bool
    /// What stands before a number that is dialled: `+`, `00` or another prefix; empty for digits alone.
    public var dialFormat: String
    /// Calls at a time; `nil` for any number.
    public var maximumCalls: Int?

    /// No password is among these: traces keep them.
    public init(
      uri: String, codecs: [String], encryption: String, username: String?, fromUser: String, assertsIdentity: Bool,
      dialFormat: String, maximumCalls: Int?
    ) {
      self.uri = uri
      self.codecs = codecs
      self.encryption = encryption
      self.username = username
      self.fromUser = fromUser
      self.assertsIdentity = assertsIdentity
      self.dialFormat = dialFormat
      self.maximumCalls = maximumCalls
    }
  }

  /// What is left out is not known, and the story says so where it matters.
  public init(
    record: CallRecord? = nil, live: CallSnapshot? = nil, trace: CallTrace? = nil, money: CallMoney? = nil,
    trunks: [String: TrunkFacts] = [:]
  ) {
    self.record = record
    self.live = live
    self.trace = trace
    self.money = money
    self.trunks = trunks
  }
}
