public import CallModel

extension PresentedCaller {
  /// Most values of Privacy that are read.
  static let maximumPrivacyValues = 16

  /// Who an INVITE says it is from.
  /// - Parameter isTrusted: Whether it came from our trust domain (RFC 3324): nobody else's P-Asserted-Identity,
  ///   Diversion and History-Info are read. P-Preferred-Identity never is: it speaks to the sender's own proxy.
  /// - Throws: `InvalidValue` with rule `privacy.critical`, for a 500: Privacy asks for something unknown and forbids
  ///   the call without it (RFC 3323 section 4.2).
  public init(_ message: SIPMessage, isTrusted: Bool) throws(InvalidValue) {
    let privacy = try PresentedCaller.privacy(message)
    let isAnonymous = privacy || PresentedCaller.isAnonymous(message.from)
    self.init(
      presented: isAnonymous ? nil : PresentedCaller.shown(message.from),
      network: isTrusted ? PresentedCaller.asserted(message) : nil,
      redirectedFrom: isTrusted ? PresentedCaller.redirected(message) : nil, isAnonymous: isAnonymous)
  }

  /// Whether the caller wants to stay unknown to the callee.
  private static func privacy(_ message: SIPMessage) throws(InvalidValue) -> Bool {
    // Separated by semicolons (RFC 3323 section 4.2); commas are common all the same.
    let values = message.values("Privacy").flatMap { field -> [String] in
      let parts = Array(field.utf8.prefix(OutgoingField.maximumValueBytes)).split {
        $0 == MessageCharacter.semicolon || $0 == MessageCharacter.comma
      }
      return parts.prefix(maximumPrivacyValues).map { part in
        String(decoding: part.filter { !MessageCharacter.isBlank($0) }.map(MessageCharacter.lowercase), as: UTF8.self)
      }
    }
    // `session` is met by relaying the media, `history` by telling nobody further on.
    let known: Set = ["none", "header", "session", "user", "id", "critical", "history"]
    if values.contains("critical"), let unknown = values.first(where: { !known.contains($0) }) {
      throw InvalidValue(
        kind: "Privacy header", rule: "privacy.critical", offset: nil,
        problem: "a critical kind of privacy is unknown: \(CallFailure.shortened(unknown))",
        accepted: "none, header, session, user, id and history")
    }
    if values.contains("none") { return false }
    return values.contains { $0 == "id" || $0 == "user" || $0 == "header" }
  }

  /// RFC 3323 section 4.1.1.3.
  private static func isAnonymous(_ from: NameAddress) -> Bool {
    from.uri.host == .name("anonymous.invalid") || from.uri.user?.lowercased() == "anonymous"
  }

  /// The first with an international number, of a SIP URI and a tel URI for the same caller.
  private static func asserted(_ message: SIPMessage) -> NameAddress? {
    let addresses = addresses(message, "P-Asserted-Identity").map(shown)
    return addresses.first { $0.uri.user?.hasPrefix("+") ?? false } ?? addresses.first
  }

  /// Diversion names the last redirection first (RFC 5806); in History-Info (RFC 7044) it is the last entry that
  /// gives a Reason, or the one before the last.
  private static func redirected(_ message: SIPMessage) -> NameAddress? {
    if let diversion = addresses(message, "Diversion").first { return shown(diversion) }
    let history = addresses(message, "History-Info")
    let last = history.last { $0.uri.headers["reason"] != nil } ?? history.dropLast().last
    guard let last, last.uri.headers["privacy"] == nil else { return nil }
    return shown(last)
  }

  /// How often a call has been diverted: what Diversion and History-Info hold, whichever is more.
  static func diversions(_ message: SIPMessage) -> Int {
    max(addresses(message, "Diversion").count, max(0, addresses(message, "History-Info").count - 1))
  }

  /// Fields that cannot be read are passed over.
  private static func addresses(_ message: SIPMessage, _ name: String) -> [NameAddress] {
    message.values(name).prefix(NameAddress.maximumAddresses).flatMap {
      (try? NameAddress.list(parsing: $0)) ?? []
    }
  }

  /// Without what belongs to the message and not to the caller: the tag, parameters of the number such as
  /// `phone-context` and `verstat`, and separators in the number.
  private static func shown(_ address: NameAddress) -> NameAddress {
    var uri = address.uri
    uri.headers = []
    if uri.scheme == .tel { uri.parameters = [] }
    uri.user = uri.user.map { user in
      let number = user.utf8.prefix { $0 != MessageCharacter.semicolon }
      let digits = number.filter { !"-.()".utf8.contains($0) }
      let isNumber = digits.first == UInt8(ascii: "+") && digits.dropFirst().allSatisfy(MessageCharacter.isDigit)
      return isNumber
        ? String(decoding: digits, as: UTF8.self)
        : number.allSatisfy(MessageCharacter.isDigit) ? String(decoding: number, as: UTF8.self) : user
    }
    return NameAddress(uri, displayName: address.displayName)
  }
}
