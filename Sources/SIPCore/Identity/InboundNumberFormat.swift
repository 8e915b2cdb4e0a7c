public import CallModel

/// How a trunk writes numbers in the calls that it sends us: the called one and the caller's.
public enum InboundNumberFormat: Hashable, Sendable {
  /// `+46850000536`, and digits without `+` that are a number with its country code.
  case international
  /// As dialled inside a country: `0850000536` or `850000536`. A `+`, or `00`, begins an international number here too.
  /// Where the trunk writes the country code without `+`, use ``international``.
  case national(countryCode: Int)

  /// The number that a URI's user part is; `nil` where it is none.
  /// - Parameter user: with its escapes; parameters of the number (`;phone-context=`) and visual separators are passed over.
  public func number(_ user: String) -> E164Number? {
    guard let user = SIPURI.unescaped(user) else { return nil }
    let digits = user.utf8.prefix(InboundNumberFormat.maximumLength).prefix { $0 != MessageCharacter.semicolon }
      .filter { !"-.() ".utf8.contains($0) }
    guard !digits.isEmpty else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    if text.hasPrefix("+") { return try? E164Number(text) }
    if text.hasPrefix("00") { return try? E164Number("+" + text.dropFirst(2)) }
    switch self {
    case .international: return try? E164Number("+" + text)
    case .national(let code):
      let significant = text.hasPrefix("0") && code != 39 ? text.dropFirst() : text[...]
      // North America dials its own country code before national numbers.
      if code == 1, significant.utf8.count == 11, significant.hasPrefix("1") {
        return try? E164Number("+" + significant)
      }
      return try? E164Number("+\(code)" + significant)
    }
  }

  /// Characters of a user part that are looked at.
  static let maximumLength = 64
}

/// What is believed of calls that a trunk sends us, and what it may ask for.
public struct InboundTrunkPolicy: Hashable, Sendable {
  /// Whether the trunk belongs to our trust domain (RFC 3324): its P-Asserted-Identity, Diversion and History-Info are
  /// read.
  public var trustsIdentity: Bool
  /// How it writes numbers.
  public var numberFormat: InboundNumberFormat
  /// Whether its REFER is carried out (RFC 3515); otherwise our Allow does not name it.
  public var allowsTransfer: Bool
  /// Whether a forwarded call shows the trunk the caller's number, with Diversion, in place of the number that was called.
  public var takesForeignCallers: Bool
  /// Further addresses its calls come from, beside those that its own URI leads to.
  public var sources: [SIPHost]
  /// What is done with signed callers.
  public var stir = SignedCallers.off

  /// What is done with the Identity fields of a trunk's calls (RFC 8224).
  public enum SignedCallers: String, Hashable, Sendable, CaseIterable {
    /// They are not looked at.
    case off
    /// They are verified; the call goes on with what is told of its caller.
    case verify
    /// A call without a caller that could be verified is refused.
    case enforce
  }

  /// By default nothing is believed but From, numbers are international, and transfers are refused.
  public init(
    trustsIdentity: Bool = false, numberFormat: InboundNumberFormat = .international, allowsTransfer: Bool = false,
    takesForeignCallers: Bool = false, sources: [SIPHost] = []
  ) {
    self.trustsIdentity = trustsIdentity
    self.numberFormat = numberFormat
    self.allowsTransfer = allowsTransfer
    self.takesForeignCallers = takesForeignCallers
    self.sources = sources
  }
}
