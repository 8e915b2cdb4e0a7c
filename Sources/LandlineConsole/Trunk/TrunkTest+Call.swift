import CallModel
import LandlineConfiguration
import LandlineWire
import SDPCore
import SIPCore

extension TrunkTest {
  /// How long a call may take to ring once the trunk says that it tries.
  private static let progressMilliseconds: Int64 = 30_000

  /// What one INVITE came to.
  struct CallResult: Sendable {
    enum End: Sendable {
      /// Cancelled while it rang.
      case rang
      /// Hung up at once.
      case answered(connected: NameAddress?)
      case failed(CallFailure)
      /// Nothing came at all.
      case silent
      /// The trunk tried, and nothing more came.
      case stuck
    }
    var end: End
    /// Provisional statuses in the order they came.
    var statuses: [Int]
    var description: MessageBody?
    /// What the description came to.
    var agreed: Agreement?
    /// The sound that came; `nil` where it was not listened for.
    var heard: MediaPort.Heard?
    var milliseconds: Int64
    /// Whether the end was confirmed.
    var isSettled: Bool
  }

  /// What an answer's description means for ours.
  enum Agreement: Sendable {
    case plan(MediaPlan)
    case refused(TrunkStep)
  }

  /// The offer of a call, and where its sound comes.
  struct Offer {
    let body: MessageBody
    let session: OfferAnswer
    let port: MediaPort

    func agreement(_ answer: MessageBody) -> Agreement {
      do {
        let parsed = try SessionDescription(parsing: answer.bytes)
        do {
          var session = session
          return .plan(try session.accept(parsed))
        } catch {
          return .refused(
            TrunkStep(
              .answer, .fail, "the answer cannot be used: \(error)",
              fix: "allow what the trunk chose with 'codecs' and 'srtp', or ask the carrier what it supports"))
        }
      } catch {
        return .refused(
          TrunkStep(
            .answer, .fail, "the session description cannot be read: \(error)", fix: "show the carrier its own answer"))
      }
    }
  }

  /// Offers the trunk's codecs in a real INVITE, waits for the answer and its sound, and ends the call.
  func call(_ number: E164Number, on path: SIPPath) async throws {
    guard let host = node?.configuration.listeners.first(where: { $0.id == path.listener })?.host,
      let port = MediaPort(on: host)
    else {
      return try report(TrunkStep(.offer, .fail, "the system has no UDP port to offer", fix: "free some ports"))
    }
    var generator = SystemRandomNumberGenerator()
    var session = OfferAnswer(sessionID: generator.next(), host: host, policy: trunk.media)
    let keys = (0..<LocalMedia.keyMaterialLength).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let description: SessionDescription
    do {
      description = try session.offer(from: LocalMedia(host: host, port: Int(port.number), keyMaterial: keys))
    } catch {
      return try report(TrunkStep(.offer, .fail, error.description, fix: "allow at least one codec with 'codecs'"))
    }
    try report(offerStep(host, port.number))
    let variants: [CallerVariant]
    do {
      variants = try CallerVariant.all(
        trunk.identity, caller: settings.caller, user: trunk.account?.username)
    } catch {
      return try report(TrunkStep(.identity, .fail, "\(error.kind): \(error.problem)", fix: error.accepted))
    }
    let body = MessageBody(sessionDescription: Array(description.text.utf8))
    try await tryVariants(variants, number, Offer(body: body, session: session, port: port), path)
    withExtendedLifetime(port) {}
  }

  /// Once for each way to say who calls, as long as 403 is the answer. A call that may have rung is never repeated.
  private func tryVariants(
    _ variants: [CallerVariant], _ number: E164Number, _ offer: Offer, _ path: SIPPath
  ) async throws {
    var refused: [CallerVariant] = []
    for (index, variant) in variants.enumerated() {
      let result = await place(number, variant.identity, offer, path)
      let hasRung = result.statuses.contains { $0 >= 180 }
      if case .failed(let failure) = result.end, failure.sipStatus == 403, !hasRung {
        refused.append(variant)
        if index == 0 {
          try report(callStep(result, variant, number, path))
        }
        continue
      }
      if index > 0 {
        findings.callerKeys = variant.keys
        let works = { if case .failed = result.end { false } else { true } }()
        try report(
          TrunkStep(
            .identity, works ? .ok : .warn,
            works ? "the call goes through with \(variant.keys)" : "another answer comes with \(variant.keys)",
            details: [variant.text] + refused.map { "403 with \($0.keys): \($0.text)" },
            fix: "set under 'caller': \(variant.keys)", facts: [("keys", .string(variant.keys))]))
      }
      try report(callStep(result, variant, number, path))
      return try reportSound(result, path)
    }
    guard refused.count > 1 else { return }
    try report(
      TrunkStep(
        .identity, .fail, "403 whoever calls",
        details: refused.map { "403 with \($0.keys): \($0.text)" },
        fix: "ask the carrier which From and P-Asserted-Identity it wants, and whether the number may be called"))
  }

  private func reportSound(_ result: CallResult, _ path: SIPPath) throws {
    switch result.agreed {
    case .refused(let step): return try report(step)
    case .plan(let plan):
      findings.plan = plan
      findings.packets = result.heard?.packets ?? 0
      try report(answerStep(plan, path))
      if let heard = result.heard {
        var isAnswered = false
        if case .answered = result.end { isAnswered = true }
        try report(soundStep(heard, plan, isAnswered: isAnswered))
      }
    case nil:
      switch result.end {
      case .rang, .answered:
        try report(TrunkStep(.answer, .skip, "no session description came before the call was taken back"))
      case .failed, .silent, .stuck: return
      }
    }
  }

  // MARK: One INVITE

  private func place(
    _ number: E164Number, _ identity: OutgoingIdentity, _ offer: Offer, _ path: SIPPath
  ) async -> CallResult {
    nextQuery += 1
    let handle = CallHandle(nextQuery)
    var target = trunk.identity.target(number, host: trunk.uri.host ?? trunk.identity.domain, port: trunk.uri.port)
    target.scheme = trunk.uri.scheme
    target.parameters = trunk.uri.parameters
    lastResponse = nil
    let clock = ContinuousClock()
    let start = clock.now
    var result = CallResult(end: .silent, statuses: [], description: nil, milliseconds: 0, isSettled: true)
    node?.execute(
      .placeCall(
        handle,
        OutgoingCall(
          target: target, routes: trunk.proxies, paths: [path], identity: identity, offer: offer.body,
          account: trunk.account, sessionTimer: trunk.sessionTimer, reliability: trunk.reliability,
          ringTimeoutMilliseconds: TrunkTest.progressMilliseconds + timeout)))
    var patience = timeout
    var ringing: ContinuousClock.Instant?
    while true {
      let event = await wait(patience) { event -> UserAgentEvent? in
        guard case .agent(let event) = event else { return nil }
        return switch event {
        case .trying(handle), .progress(handle, _), .established(handle, _), .ended(handle, _): event
        default: nil
        }
      }
      result.milliseconds = Int64((clock.now - start) / .milliseconds(1))
      switch event {
      case .trying:
        result.statuses.append(100)
        result.end = .stuck
        patience = TrunkTest.progressMilliseconds
      case .progress(_, let progress):
        if result.statuses.count < 32 { result.statuses.append(progress.status) }
        result.description = progress.body ?? result.description
        patience = TrunkTest.progressMilliseconds
        // A description in a 183 is a ringing tone as a rule.
        guard progress.status == 180 || progress.body != nil else { continue }
        result.end = .rang
        let since = ringing ?? clock.now
        ringing = since
        if settings.ringMilliseconds > 0, let body = progress.body, result.heard == nil {
          await listen(offer, body, &result)
        } else if let body = progress.body, result.agreed == nil {
          result.agreed = offer.agreement(body)
        }
        // Sound before the answer says all that an answer would, and costs nothing.
        let rest = settings.ringMilliseconds - Int64((clock.now - since) / .milliseconds(1))
        if rest > 0, (result.heard?.packets ?? 0) == 0 {
          patience = rest
          continue
        }
        result.isSettled = await hangUp(handle)
        return result
      case .established(_, let answer):
        result.description = answer.body ?? result.description
        result.end = .answered(connected: answer.connectedIdentity)
        if let body = result.description { await listen(offer, body, &result) }
        result.isSettled = await hangUp(handle)
        return result
      case .ended(_, let end):
        result.end = .failed(end.failure ?? CallFailure(.protocolBroken))
        return result
      case nil:
        result.isSettled = await hangUp(handle)
        return result
      default: continue
      }
    }
  }

  private func listen(_ offer: Offer, _ body: MessageBody, _ result: inout CallResult) async {
    let agreed = offer.agreement(body)
    result.agreed = agreed
    guard case .plan(let plan) = agreed else { return }
    result.heard = await offer.port.listen(milliseconds: settings.soundMilliseconds, plan)
  }

  /// - Returns: Whether the peer confirmed the end in time.
  private func hangUp(_ handle: CallHandle) async -> Bool {
    node?.execute(.hangUp(handle, HangUp(reasons: [CallFailure.Reason(protocolName: "Q.850", cause: 16)])))
    let wasAnswered = lastResponse?.cseq.method == .invite && (lastResponse?.status ?? 0) / 100 == 2
    let isOver = await wait(timeout) { event -> Bool? in
      if case .agent(.ended(handle, _)) = event { true } else { nil }
    }
    guard isOver != nil else { return false }
    // A 2xx that crossed the CANCEL, and every call that was up, ends with a BYE that wants its answer.
    let crossed = (lastResponse?.status ?? 0) / 100 == 2 && lastResponse?.cseq.method == .invite
    guard wasAnswered || crossed else { return true }
    if lastResponse?.cseq.method == .bye { return true }
    return await wait(timeout) { event -> Bool? in
      if case .message = event, self.lastResponse?.cseq.method == .bye { true } else { nil }
    } != nil
  }

  // MARK: Words

  private func offerStep(_ host: SIPHost, _ port: UInt16) -> TrunkStep {
    let media = trunk.media
    let codecs = media.codecs.map { TrunkText.text($0) }
    let protection = TrunkText.text(media.protection)
    let events = media.telephoneEvents == nil ? "no touch tones" : "touch tones (RFC 4733)"
    return TrunkStep(
      .offer, .ok, "\(codecs.joined(separator: ", ")), \(media.packetTime) ms, \(events), SRTP \(protection)",
      details: ["media at \(host):\(port)"],
      facts: [
        ("codecs", .array(codecs.map { .string($0) })), ("packet_time", .integer(Int64(media.packetTime))),
        ("srtp", .string(protection)),
      ])
  }

  private func callStep(
    _ result: CallResult, _ variant: CallerVariant, _ number: E164Number, _ path: SIPPath
  ) -> TrunkStep {
    let place = TrunkText.text(path.remote)
    let after = "after \(result.milliseconds) ms"
    var details = ["called \(number), \(variant.text)"]
    let statuses = result.statuses.map { "\($0)" }
    if !statuses.isEmpty { details.append("on the way: \(statuses.joined(separator: ", "))") }
    if !result.isSettled { details.append("the end was not confirmed: the call may still be up for a while") }
    var facts: [(String, JSONValue)] = [
      ("number", .string("\(number)")), ("milliseconds", .integer(result.milliseconds)),
      ("statuses", .array(result.statuses.map { .integer(Int64($0)) })), ("settled", .boolean(result.isSettled)),
    ]
    func step(_ verdict: TrunkStep.Verdict, _ found: String, _ end: String, fix: String? = nil) -> TrunkStep {
      facts.append(("end", .string(end)))
      return TrunkStep(
        .call, result.isSettled || verdict == .fail ? verdict : .warn, found, target: place, details: details, fix: fix,
        facts: facts)
    }
    switch result.end {
    case .rang:
      let rang = settings.ringMilliseconds == 0 ? "at once" : "before anybody answered"
      return step(.ok, "rings \(after); taken back \(rang)", "rang")
    case .answered(let connected):
      if let connected { details.append("connected to \(TrunkText.clean(TrunkText.text(connected)))") }
      details.append("an answered call may be billed")
      return step(.ok, "answered \(after); hung up", "answered")
    case .silent:
      return step(
        .fail, "no answer to INVITE in \(TrunkText.duration(timeout))", "silent",
        fix: "ask the carrier whether this address may place calls, and try a stream transport where the INVITE may be "
          + "too large for UDP")
    case .stuck:
      return step(
        .fail, "the trunk tries, and nothing comes of it in \(TrunkText.duration(TrunkTest.progressMilliseconds))",
        "stuck", fix: "try another number, or ask the carrier what became of the call")
    case .failed(let failure): return failureStep(failure, after, details, facts, place)
    }
  }

  /// The catalogue's words, as `landline explain` has them.
  private func failureStep(
    _ failure: CallFailure, _ after: String, _ details: [String], _ facts: [(String, JSONValue)], _ place: String
  ) -> TrunkStep {
    let row = failure.code.details
    let status = failure.sipStatus.map { status in
      [String(status), failure.phrase ?? CauseCatalogue.status(status)?.phrase ?? ""].filter { !$0.isEmpty }
        .joined(separator: " ") + " "
    }
    var details = details
    details.append("\(row.code.rawValue), \(row.name): \(row.meaning)")
    if let cause = failure.cause { details.append("Q.850 cause \(cause) \(CauseCatalogue.cause(cause)?.name ?? "")") }
    if let warning = failure.warning { details.append("Warning: \(warning)") }
    if let seconds = failure.retryAfterSeconds { details.append("Retry-After: \(seconds) s") }
    if let server = lastResponse?.value("Server") { details.append("server \(TrunkText.clean(server))") }
    details += row.likelyCauses.map { "likely: \($0)" }
    // The called person's own word: the trunk did its part.
    let isPersonal = [.busy, .declined, .noAnswer].contains(failure.code)
    let explain = failure.sipStatus.map { "; landline explain \($0)" } ?? ""
    return TrunkStep(
      .call, isPersonal ? .warn : .fail, "\(status ?? "")\(after)\(isPersonal ? ": the trunk carries calls" : "")",
      target: place, details: details, fix: row.remedies.joined(separator: "; ") + explain,
      facts: facts + [
        ("end", .string("failed")), ("code", .string(failure.code.rawValue)),
        ("status", failure.sipStatus.map { .integer(Int64($0)) } ?? .null),
        ("cause", failure.cause.map { .integer(Int64($0)) } ?? .null),
        ("warning", .string(optional: failure.warning)),
        ("retry_after", failure.retryAfterSeconds.map { .integer(Int64($0)) } ?? .null),
        ("remedies", .array(row.remedies.map { .string($0) })),
      ])
  }

  private func soundStep(_ heard: MediaPort.Heard, _ plan: MediaPlan, isAnswered: Bool) -> TrunkStep {
    let time = TrunkText.duration(settings.soundMilliseconds)
    let media = plan.remote.host.map { "\($0):\(plan.remote.port)" } ?? "nowhere"
    let facts: [(String, JSONValue)] = [
      ("packets", .integer(Int64(heard.packets))), ("missing", .integer(Int64(heard.missing))),
      ("source", .string(optional: heard.source)),
      ("payload_type", heard.payloadType.map { .integer(Int64($0)) } ?? .null),
    ]
    guard let source = heard.source, heard.packets > 0 else {
      return TrunkStep(
        .sound, isAnswered ? .fail : .warn, "no sound came in \(time)", target: media,
        fix: isAnswered
          ? "a firewall or the wrong address: open UDP for the ports of media, and say the address that the trunk reaches "
            + "this machine at ('advertise' under media, trunk)"
          : "some trunks send no sound before the answer: let somebody answer, or ask the carrier", facts: facts)
    }
    var fixes: [String] = []
    if heard.missing > 0 { fixes.append("\(heard.missing) packets are missing: look at the network on the way") }
    if source != media {
      fixes.append("it comes from \(source): the trunk is behind NAT, or its proxy carries the sound")
    }
    let known =
      plan.audio.receive.map { Int($0.payloadType.number) }
      + (plan.audio.events?.received.map { Int($0.payloadType.number) } ?? [])
    if let type = heard.payloadType, !known.contains(type) {
      fixes.append("its payload type \(type) was not agreed on: show the carrier its own answer")
    }
    return TrunkStep(
      .sound, fixes.isEmpty ? .ok : .warn,
      "\(heard.packets) packets in \(time), the first after \(heard.firstMilliseconds ?? 0) ms", target: source,
      fix: fixes.isEmpty ? nil : fixes.joined(separator: "; "), facts: facts)
  }

  private func answerStep(_ plan: MediaPlan, _ path: SIPPath) -> TrunkStep {
    let codec = TrunkText.text(plan.audio.send.codec)
    let protection: String
    switch plan.protection {
    case .none: protection = "no SRTP"
    case .sdes(let keys): protection = "SRTP with \(keys.suite.rawValue)"
    case .dtls: protection = "SRTP by DTLS"
    }
    let events = plan.audio.events.map { "touch tones as \($0.sendPayloadType)" } ?? "no touch tones"
    let media = plan.remote.host.map { "\($0):\(plan.remote.port)" } ?? "nowhere"
    var fixes: [String] = []
    if plan.audio.events == nil, trunk.media.telephoneEvents != nil {
      fixes.append("touch tones will not reach voice menus: ask the carrier for telephone-event")
    }
    if plan.audio.direction != .sendAndReceive {
      fixes.append("sound goes one way only (\(plan.audio.direction.rawValue)): ask the carrier why")
    }
    if let host = plan.remote.host, host.isPrivate, !path.remote.host.isPrivate {
      fixes.append(
        "media shall go to \(host), an address that cannot be reached from outside: the carrier must say its public one"
      )
    }
    return TrunkStep(
      .answer, fixes.isEmpty ? .ok : .warn,
      "\(codec), \(plan.audio.packetTime) ms, \(events), \(protection), \(plan.audio.direction.rawValue)",
      details: ["media at \(media)"], fix: fixes.isEmpty ? nil : fixes.joined(separator: "; "),
      facts: [
        ("codec", .string(codec)), ("packet_time", .integer(Int64(plan.audio.packetTime))),
        ("telephone_events", plan.audio.events.map { .integer(Int64($0.sendPayloadType.number)) } ?? .null),
        ("srtp", .string(protection)), ("direction", .string(plan.audio.direction.rawValue)), ("media", .string(media)),
      ])
  }
}

extension SIPHost {
  /// Loopback, link-local and addresses of private networks (RFC 1918, RFC 4193).
  fileprivate var isPrivate: Bool {
    switch self {
    case .name: false
    case .ipv4(let bits):
      bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8 || bits >> 24 == 127 || bits >> 16 == 0xA9FE
        || bits >> 22 == 0x191
    case .ipv6(let high, let low): high >> 57 == 0x7E || high >> 54 == 0x3FA || (high == 0 && low == 1)
    }
  }
}
