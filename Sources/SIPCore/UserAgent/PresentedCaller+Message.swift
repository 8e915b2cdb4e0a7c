import CallModel

extension PresentedCaller {
  /// Who a message says it is from, by its own word; whether the word of this peer counts is for a trunk's rules.
  ///
  /// Anonymous: Privacy of `id`, `header` or `user` (RFC 3323, RFC 3325), a From of `anonymous.invalid`, or one whose user
  /// part is `anonymous`.
  init(of message: SIPMessage) {
    let privacy = message.values("Privacy").flatMap { $0.lowercased().utf8.split { $0 == 0x3B || $0 == 0x20 } }
      .map { String(Substring($0)) }
    var from = message.from
    from.parameters.removeAll { $0.name == "tag" }
    let isAnonymous =
      privacy.contains { ["id", "header", "user"].contains($0) }
      || from.uri.user?.lowercased() == "anonymous"
      || from.uri.host?.description.lowercased() == "anonymous.invalid"
    self.init(
      presented: isAnonymous ? nil : from,
      network: PresentedCaller.first("P-Asserted-Identity", of: message),
      redirectedFrom: PresentedCaller.first("Diversion", of: message) ?? PresentedCaller.redirector(of: message),
      isAnonymous: isAnonymous)
  }

  private static func first(_ name: String, of message: SIPMessage) -> NameAddress? {
    message.value(name).flatMap { try? NameAddress.list(parsing: $0) }?.first
  }

  /// Who stood in the last but one place of History-Info (RFC 7044): the last one is the target that was reached.
  private static func redirector(of message: SIPMessage) -> NameAddress? {
    let entries = message.values("History-Info").prefix(8).flatMap { (try? NameAddress.list(parsing: $0)) ?? [] }
    return entries.dropLast().last
  }
}
