import CallModel

// MARK: - Telephones that register here

extension UserAgent {
  enum PhoneJudgement {
    case other, proven, answered, ignored
  }

  /// What becomes of a request that may be a telephone's. One that was received before has been judged.
  func judgePhone(_ message: ScannedMessage, from path: SIPPath) -> PhoneJudgement {
    provenPhone = nil
    guard message.method != nil, context.phones?.isOpen ?? false, !context.transactions.knows(message) else {
      return .other
    }
    let host = path.remote.host
    switch context.phones?.judge(message, from: path, isTrunk: context.isPeer(host), at: context.now) {
    case .other, nil: return .other
    case .proven(let name):
      provenPhone = name
      context.meetPhone(host)
      return .proven
    case .ignored: return .ignored
    case .answered(let status, let phrase, let fields):
      // Without a transaction: nothing is kept of whoever has not proved who it is, and nothing is repeated to where it says
      // that it is (RFC 3261 section 26.3.2.4).
      guard
        let bytes = ErrorResponse.bytes(
          to: message, status: status, reason: phrase, tag: context.transactions.statelessTag(message),
          source: PacketSource(host: host, port: path.remote.port), fields: fields),
        path.remote.transport.isStream
          || bytes.count <= message.bytes.count * configuration.registrar.answerFactor
      else { return .ignored }
      context.send(bytes, path, SentMessage(message.callID ?? ""))
      return .answered
    }
  }

  func register(_ request: SIPMessage, _ transaction: TransactionID, from path: SIPPath) {
    guard let phone = provenPhone,
      let outcome = context.phones?.register(request, by: phone, from: path, at: context.now)
    else { return }
    var response = outcome.response
    response.toTag = context.identifiers.token()
    context.respond(transaction, response)
    for name in outcome.changed.sorted() { tellBindings(of: name) }
  }

  func replace(_ phones: [PhoneCredential]) {
    for name in (context.phones?.replace(phones) ?? []).sorted() { tellBindings(of: name) }
  }

  func expire(phone name: String) {
    if context.phones?.expire(name, at: context.now) ?? false { tellBindings(of: name) }
    watch(phone: name)
  }

  private func tellBindings(of name: String) {
    watch(phone: name)
    context.emit(.phoneBindings(name, context.phones?.registrar.bindings(of: name) ?? []))
  }

  private func watch(phone name: String) {
    deadlines.set(.phone(name), context.phones?.registrar.nextDeadline(of: name))
  }
}
