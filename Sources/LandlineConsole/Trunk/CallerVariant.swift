import CallModel
import SIPCore

/// One way to say who calls, and the keys of the configuration that say it so.
struct CallerVariant: Sendable {
  let identity: OutgoingIdentity
  /// `from-user: account, identity: preferred`.
  let keys: String

  /// Most ways that one test tries.
  static let maximum = 5

  /// As configured first, then what trunks want most often, each once.
  /// - Parameter caller: `nil` where no number is known: then there is one way only.
  static func all(
    _ policy: CallerIdentityPolicy, caller: E164Number?, user: String?
  ) throws(InvalidValue) -> [CallerVariant] {
    guard let caller else {
      let from = NameAddress(SIPURI(scheme: .sip, user: user ?? "anonymous", host: policy.domain))
      return [CallerVariant(identity: OutgoingIdentity(from: from), keys: "from-user: account, identity: none")]
    }
    var variants = [CallerVariant(identity: try policy.identity(of: caller), keys: "as configured")]
    func add(
      _ keys: String, _ fromUser: CallerIdentityPolicy.FromUser, _ assertion: CallerIdentityPolicy.Assertion,
      _ format: DialFormat
    ) {
      var changed = policy
      changed.fromUser = fromUser
      changed.assertion = assertion
      changed.callerFormat = format
      guard variants.count < maximum, let identity = try? changed.identity(of: caller),
        !variants.contains(where: { $0.identity == identity })
      else { return }
      variants.append(CallerVariant(identity: identity, keys: keys))
    }
    if let user { add("from-user: account, identity: asserted", .fixed(user), .asserted, policy.callerFormat) }
    add("from-user: number, identity: none", .callerNumber, .none, policy.callerFormat)
    if let user { add("from-user: account, identity: preferred", .fixed(user), .preferred, policy.callerFormat) }
    add("from-user: number, identity: asserted", .callerNumber, .asserted, policy.callerFormat)
    add(
      "from-user: number, identity: asserted, plus: \(policy.callerFormat.keepsPlus ? "false" : "true")",
      .callerNumber, .asserted, policy.callerFormat.keepsPlus ? .digits : .international)
    return variants
  }

  /// `From <sip:+46…@example.com>, P-Asserted-Identity <sip:…>`.
  var text: String {
    var parts = ["From \(TrunkText.text(identity.from))"]
    parts += identity.asserted.map { "P-Asserted-Identity \(TrunkText.text($0))" }
    if let preferred = identity.preferred { parts.append("P-Preferred-Identity \(TrunkText.text(preferred))") }
    return parts.joined(separator: ", ")
  }
}
