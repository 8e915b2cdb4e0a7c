import CallModel

// MARK: - To the app

extension AppMessageCoder {
  /// Writes a gateway's message.
  public static func encode(_ message: ServerMessage) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      switch message {
      case .registered(let number, let registered):
        json.head(.registered, number)
        json.member("session", registered.session)
        json.resumption(registered.token, registered.resumeSeconds)
        json.member("user", registered.user.text)
        if let credential = registered.credential {
          json.object("credential") { json in
            json.member("id", credential.id)
            json.member("secret", credential.secret.exposed)
            json.optional("expires", credential.expiresAt?.description)
          }
        }
        json.member("version", registered.version)
        if !registered.features.isEmpty {
          json.array("features", registered.features.map(\.rawValue).sorted()) { $0.string($1) }
        }
        json.relays(registered.relays)
      case .resumed(let number, let resumed):
        json.head(.resumed, number)
        json.resumption(resumed.token, resumed.resumeSeconds)
        json.member("last_request", resumed.lastRequest)
        json.array("calls", resumed.calls) { $0.string($1.text) }
        json.relays(resumed.relays)
      case .event(let event, let sequence): write(event, sequence, into: &json)
      case .pong(let number): json.head(.pong, number)
      case .error(let number, let failure):
        json.head(.error, number)
        json.failure("error", failure)
      case .draining: json.head(.draining, nil)
      case .relays(let access):
        json.head(.turn, nil)
        json.relays(access)
      case .closing(let reason):
        json.head(.closing, nil)
        json.member("reason", reason)
      }
    }
    return json.bytes
  }

  private static func write(_ event: AppEvent, _ sequence: UInt64?, into json: inout JSONWriter) {
    func reply(_ type: ServerMessageType, _ number: RequestNumber) {
      json.head(type, number)
      json.optional("seq", sequence)
    }
    func about(_ type: ServerMessageType, _ call: CallID) {
      json.head(type, nil)
      json.optional("seq", sequence)
      json.member("call", call.text)
    }
    switch event {
    case .placed(let number, let call, let answer):
      reply(.placed, number)
      json.member("call", call.text)
      json.member("answer", answer)
    case .done(let number): reply(.done, number)
    case .answered(let number, let call, let description):
      reply(.answer, number)
      json.member("call", call.text)
      json.member("sdp", description)
    case .refused(let number, let failure):
      reply(.error, number)
      json.failure("error", failure)
    case .incoming(let call, let invitation):
      about(.incoming, call)
      json.invitation(invitation)
    case .progressing(let call, let headers):
      about(.progress, call)
      json.headers(headers)
    case .ringing(let call, let headers):
      about(.ringing, call)
      json.headers(headers)
    case .earlyMedia(let call): about(.early, call)
    case .accepted(let call, let headers):
      about(.accepted, call)
      json.headers(headers)
    case .established(let call): about(.established, call)
    case .price(let call, let price):
      about(.price, call)
      json.price(price)
    case .creditEnds(let call, let seconds):
      about(.credit, call)
      json.optional("ends_in", seconds)
    case .digit(let call, let digit, let milliseconds):
      about(.digit, call)
      json.member("digit", String(digit))
      json.member("milliseconds", milliseconds)
    case .held(let call, let isHeld):
      about(.held, call)
      json.member("held", isHeld)
    case .transfer(let call, let progress):
      about(.transfer, call)
      json.member("state", progress.step.rawValue)
      json.object("to") {
        $0.member("kind", progress.kind.rawValue)
        $0.member(progress.kind.targetMember, progress.target)
      }
      if let failure = progress.failure { json.failure("failure", failure) }
    case .offered(let call, let description):
      about(.offer, call)
      json.member("sdp", description)
    case .quality(let call, let quality):
      about(.quality, call)
      json.direction("sent", quality.sent)
      json.direction("received", quality.received)
      if let roundTrip = quality.roundTrip { json.member("round_trip", roundTrip) }
    case .warning(let call, let warning, let isRaised):
      about(.warning, call)
      json.member("warning", warning.rawValue)
      json.member("raised", isRaised)
    case .members(let call, let members):
      about(.members, call)
      json.members(members)
    case .speakers(let call, let speakers):
      about(.speakers, call)
      json.array("speaking", speakers.speaking) { $0.write(.integer(Int64($1))) }
      json.optional("leads", speakers.leads)
    case .recording(let call, let state):
      about(.recording, call)
      json.member("state", state.rawValue)
    case .ended(let call, let summary):
      about(.ended, call)
      json.summary(summary)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func head(_ type: ServerMessageType, _ number: RequestNumber?) {
    member("type", type.rawValue)
    optional("id", number?.value)
  }

  fileprivate mutating func resumption(_ token: Redacted<String>, _ seconds: Int) {
    object("resume") {
      $0.member("token", token.exposed)
      $0.member("seconds", seconds)
    }
  }

  fileprivate mutating func relays(_ access: TURNAccess?) {
    guard let access else { return }
    object("turn") { json in
      json.array("urls", access.servers) { $0.string($1.description) }
      json.member("username", access.username)
      json.member("credential", access.password.exposed)
      json.member("expires", access.expiresAt.description)
    }
  }

  fileprivate mutating func headers(_ headers: CustomHeaders) {
    guard !headers.isEmpty else { return }
    object("headers") { json in for field in headers { json.member(field.name, field.value) } }
  }

  fileprivate mutating func invitation(_ invitation: Invitation) {
    identity(invitation.from)
    member("to", invitation.user.text)
    optional("number", invitation.number)
    headers(invitation.headers)
    member("video", invitation.wantsVideo)
    member("waiting", invitation.isWaiting)
    member("expires_at", invitation.expiresAt.description)
  }

  private mutating func identity(_ from: CallerIdentity) {
    object("from") { json in
      json.member("kind", from.kind.rawValue)
      json.member("value", from.value)
      if !from.name.isEmpty { json.member("name", from.name) }
      // Users of one application are known by their registration.
      if from.kind != .user { json.member("verified", from.verified.rawValue) }
      json.optional("why", from.why)
      json.optional("diverted_by", from.divertedBy)
    }
  }

  fileprivate mutating func members(_ members: RoomMembers) {
    optional("own", members.own)
    array("members", members.members) { json, member in
      json.object { json in
        json.member("participant", member.participant)
        json.identity(member.from)
        json.member("muted", member.isMuted)
        json.member("since", member.since.description)
      }
    }
    array("left", members.left) { $0.write(.integer(Int64($1))) }
  }

  fileprivate mutating func price(_ price: CallPrice) {
    member("currency", price.currency)
    member("rate_per_minute", price.ratePerMinuteNano.decimal)
    member("rate_per_minute_nano", price.ratePerMinuteNano.count)
    member("connection_fee", price.connectionFeeMicro.decimal)
    member("connection_fee_micro", price.connectionFeeMicro.count)
    member("initial_seconds", price.initialSeconds)
    member("increment_seconds", price.incrementSeconds)
    member("seconds_available", price.secondsAvailable)
  }

  fileprivate mutating func direction(_ name: String, _ direction: CallQuality.Direction) {
    object(name) {
      if let score = direction.meanOpinionScore { $0.member("mos", score) }
      if let jitter = direction.jitter { $0.member("jitter", jitter) }
      if let loss = direction.loss { $0.member("loss", loss) }
      $0.member("packets", direction.packets)
    }
  }

  fileprivate mutating func summary(_ summary: CallSummary) {
    member("cause", summary.cause.rawValue)
    member("started_at", summary.startedAt.description)
    optional("progressed_at", summary.progressedAt?.description)
    optional("rung_at", summary.rungAt?.description)
    optional("answered_at", summary.answeredAt?.description)
    optional("established_at", summary.establishedAt?.description)
    member("ended_at", summary.endedAt.description)
    member("duration_ms", summary.durationMilliseconds)
    member("billed_seconds", summary.billedSeconds)
    if let cost = summary.costMicro {
      member("cost", cost.decimal)
      member("cost_micro", cost.count)
    }
    member("currency", summary.currency)
    if summary.isMissed { member("missed", true) }
    optional("by", summary.device)
    headers(summary.headers)
    if let failure = summary.failure { self.failure("failure", failure) }
  }
}

// MARK: - From the gateway

extension AppMessageCoder {
  static func serverMessage(_ object: JSONObject) throws(MessageProblem) -> ServerMessage? {
    let whole = MessageReader(object: object, path: "message")
    let text = try whole.string("type", most: MessageLimit.identifier)
    guard let type = ServerMessageType(rawValue: text) else { return nil }
    let reader = MessageReader(object: object, path: text)
    switch type {
    case .registered: return .registered(try reader.requestNumber(), try registered(reader))
    case .resumed:
      let (token, seconds) = try resumption(reader)
      var calls: [CallID] = []
      for text in try reader.strings("calls", most: MessageLimit.calls) {
        guard let call = CallID(text) else {
          throw reader.problem("calls", "value", "holds no call id", accepted: "ids of calls")
        }
        calls.append(call)
      }
      return .resumed(
        try reader.requestNumber(),
        Resumed(
          token: token, resumeSeconds: seconds,
          lastRequest: UInt64(try reader.integer("last_request", in: 0...MessageLimit.integer)), calls: calls,
          relays: relays(reader)))
    case .pong: return .pong(try reader.requestNumber())
    case .error:
      let failure = try reader.part("error").failure()
      let number = try reader.optionalInteger("id", in: 1...MessageLimit.integer).map { RequestNumber(UInt64($0)) }
      // A reply of the session has a sequence number; the door's own word on a message has none.
      guard let number, let sequence = try reader.sequence() else { return .error(number, failure) }
      return .event(.refused(number, failure), sequence: sequence)
    case .draining: return .draining
    case .turn: return .relays(relays(reader))
    case .closing: return .closing(reason: try reader.string("reason", most: MessageLimit.text))
    case .placed, .done, .answer, .incoming, .progress, .ringing, .early, .accepted, .established, .price, .credit,
      .digit, .held, .transfer, .offer, .quality, .warning, .members, .speakers, .recording,
      .ended:
      return try event(type, reader).map { .event($0, sequence: try? reader.sequence()) }
    }
  }

  private static func registered(_ reader: MessageReader) throws(MessageProblem) -> Registered {
    let (token, seconds) = try resumption(reader)
    var credential: DeviceCredential?
    if let part = try reader.optionalPart("credential") {
      credential = DeviceCredential(
        id: try part.string("id", most: MessageLimit.identifier),
        secret: Redacted(try part.string("secret", most: MessageLimit.secret)), expiresAt: try part.instant("expires"))
    }
    let features = try reader.strings("features", most: MessageLimit.features).compactMap(AppFeature.init)
    return Registered(
      session: try reader.string("session", most: MessageLimit.identifier), token: token, resumeSeconds: seconds,
      user: try user(reader, "user"), credential: credential,
      version: try reader.string("version", most: MessageLimit.client), features: Set(features), relays: relays(reader))
  }

  /// A session is worth more than its relays: what cannot be read of them counts as none. A server of a kind that only a
  /// newer version knows is passed over.
  private static func relays(_ reader: MessageReader) -> TURNAccess? {
    guard let part = try? reader.optionalPart("turn"),
      let addresses = try? part.strings("urls", most: MessageLimit.relays),
      let username = try? part.string("username", most: MessageLimit.relayUser),
      let password = try? part.string("credential", most: MessageLimit.secret),
      let expiresAt = try? part.instant("expires")
    else { return nil }
    let servers = addresses.compactMap { try? TURNServer($0) }.prefix(TURNAccess.maximumServers)
    guard !servers.isEmpty else { return nil }
    return TURNAccess(
      servers: Array(servers), username: username, password: Redacted(password), expiresAt: expiresAt)
  }

  private static func user(_ reader: MessageReader, _ name: String) throws(MessageProblem) -> UserID {
    let text = try reader.string(name, most: MessageLimit.user)
    guard let rules = try? UserID.Rules(maximumLength: UserID.Rules.largestMaximumLength),
      let user = try? UserID(text, rules: rules)
    else { throw reader.problem(name, "value", "is no user id", accepted: "printable ASCII") }
    return user
  }

  private static func invitation(_ reader: MessageReader) throws(MessageProblem) -> Invitation {
    guard let expiresAt = try reader.instant("expires_at") else {
      throw reader.problem("expires_at", "missing", "is missing", accepted: "a time")
    }
    return Invitation(
      from: try identity(reader), to: try user(reader, "to"),
      number: try reader.optionalString("number", most: MessageLimit.identifier),
      headers: try reader.headers(), wantsVideo: try reader.bool("video", default: false),
      isWaiting: try reader.bool("waiting", default: false), expiresAt: expiresAt)
  }

  private static func identity(_ reader: MessageReader) throws(MessageProblem) -> CallerIdentity {
    let from = try reader.part("from")
    return CallerIdentity(
      kind: .init(rawValue: try from.string("kind", most: MessageLimit.identifier)),
      value: try from.optionalString("value", most: MessageLimit.target) ?? "",
      name: try from.optionalString("name", most: MessageLimit.name) ?? "",
      verified: .init(rawValue: try from.optionalString("verified", most: MessageLimit.identifier) ?? "none"),
      why: try from.optionalString("why", most: MessageLimit.name),
      divertedBy: try from.optionalString("diverted_by", most: MessageLimit.target))
  }

  private static func members(_ reader: MessageReader) throws(MessageProblem) -> RoomMembers {
    var members: [RoomMembers.Member] = []
    for part in try reader.parts("members", most: RoomMembers.maximumMembers) {
      guard let since = try part.instant("since") else {
        throw part.problem("since", "missing", "is missing", accepted: "a time")
      }
      members.append(
        RoomMembers.Member(
          participant: Int(try part.integer("participant", in: 1...MessageLimit.participant)),
          from: try identity(part), isMuted: try part.bool("muted", default: false), since: since))
    }
    return RoomMembers(
      members, left: try reader.participants("left", most: MessageLimit.participants),
      own: try reader.optionalInteger("own", in: 1...MessageLimit.participant).map(Int.init))
  }

  private static func resumption(
    _ reader: MessageReader
  ) throws(MessageProblem) -> (token: Redacted<String>, seconds: Int) {
    let part = try reader.part("resume")
    return (
      Redacted(try part.string("token", most: MessageLimit.secret)),
      Int(try part.integer("seconds", in: 0...86_400))
    )
  }

  /// `nil` where the event says something that only a newer version knows.
  private static func event(_ type: ServerMessageType, _ reader: MessageReader) throws(MessageProblem) -> AppEvent? {
    if type == .done { return .done(try reader.requestNumber()) }
    let call = try reader.call()
    switch type {
    case .placed:
      return .placed(
        try reader.requestNumber(), call, answer: try reader.string("answer", most: MessageLimit.description))
    case .answer:
      return .answered(try reader.requestNumber(), call, try reader.string("sdp", most: MessageLimit.description))
    case .incoming: return .incoming(call, try invitation(reader))
    case .progress: return .progressing(call, headers: try reader.headers())
    case .ringing: return .ringing(call, headers: try reader.headers())
    case .early: return .earlyMedia(call)
    case .accepted: return .accepted(call, headers: try reader.headers())
    case .established: return .established(call)
    case .price: return .price(call, try price(reader))
    case .credit:
      return .creditEnds(call, inSeconds: try reader.optionalInteger("ends_in", in: 0...Int64.max).map(Int.init))
    case .digit:
      guard let digit = try reader.string("digit", most: 4).first else {
        throw reader.problem("digit", "value", "is empty", accepted: "one key")
      }
      return .digit(call, digit, milliseconds: Int(try reader.integer("milliseconds")))
    case .held: return .held(call, try reader.bool("held"))
    case .transfer: return try transfer(reader).map { .transfer(call, $0) }
    case .offer: return .offered(call, try reader.string("sdp", most: MessageLimit.description))
    case .quality:
      return .quality(
        call,
        CallQuality(
          sent: try reader.part("sent").direction(), received: try reader.part("received").direction(),
          roundTrip: try reader.optionalNumber("round_trip")))
    case .warning:
      let text = try reader.string("warning", most: MessageLimit.identifier)
      let isRaised = try reader.bool("raised")
      return QualityWarning(rawValue: text).map { .warning(call, $0, isRaised: isRaised) }
    case .members: return .members(call, try members(reader))
    case .speakers:
      return .speakers(
        call,
        RoomSpeakers(
          try reader.participants("speaking", most: RoomSpeakers.maximum),
          leads: try reader.optionalInteger("leads", in: 1...MessageLimit.participant).map(Int.init)))
    case .recording:
      let text = try reader.string("state", most: MessageLimit.identifier)
      return RecordingState(rawValue: text).map { .recording(call, $0) }
    case .ended: return .ended(call, try summary(reader))
    case .done, .registered, .resumed, .pong, .error, .draining, .turn, .closing: return nil
    }
  }

  /// `nil` for a step that only a newer version knows.
  private static func transfer(_ reader: MessageReader) throws(MessageProblem) -> TransferProgress? {
    let state = try reader.string("state", most: MessageLimit.identifier)
    let to = try reader.part("to")
    let kind: Destination.Kind = try to.choice("kind")
    let target = try to.string(kind.targetMember, most: MessageLimit.target)
    let failure = try reader.optionalPart("failure")?.failure()
    return TransferProgress.Step(rawValue: state).map { TransferProgress($0, to: kind, target, failure) }
  }

  private static func price(_ reader: MessageReader) throws(MessageProblem) -> CallPrice {
    CallPrice(
      currency: try reader.string("currency", most: 8),
      ratePerMinuteNano: NanoUnits(try reader.integer("rate_per_minute_nano")),
      connectionFeeMicro: MicroUnits(try reader.integer("connection_fee_micro")),
      initialSeconds: try reader.integer("initial_seconds"),
      incrementSeconds: try reader.integer("increment_seconds"),
      secondsAvailable: try reader.integer("seconds_available"))
  }

  private static func summary(_ reader: MessageReader) throws(MessageProblem) -> CallSummary {
    guard let startedAt = try reader.instant("started_at"), let endedAt = try reader.instant("ended_at") else {
      throw reader.problem("started_at", "missing", "or ended_at is missing", accepted: "both times")
    }
    // A cause of a newer gateway is an end with an error at least.
    let cause = CallEndCause(rawValue: try reader.string("cause", most: MessageLimit.identifier)) ?? .error
    return CallSummary(
      startedAt: startedAt, progressedAt: try reader.instant("progressed_at"), rungAt: try reader.instant("rung_at"),
      answeredAt: try reader.instant("answered_at"), establishedAt: try reader.instant("established_at"),
      endedAt: endedAt, cause: cause, failure: try reader.optionalPart("failure")?.failure(),
      headers: try reader.headers(), durationMilliseconds: try reader.integer("duration_ms"),
      billedSeconds: try reader.integer("billed_seconds"),
      costMicro: try reader.optionalInteger("cost_micro", in: Int64.min...Int64.max).map { MicroUnits($0) },
      currency: try reader.string("currency", most: 8), isMissed: try reader.bool("missed", default: false),
      device: try reader.optionalString("by", most: MessageLimit.identifier))
  }
}

extension MessageReader {
  fileprivate func headers() throws(MessageProblem) -> CustomHeaders {
    var headers = CustomHeaders()
    guard let part = try optionalPart("headers") else { return headers }
    for member in part.object.members {
      let value = try part.string(member.name, most: MessageLimit.headerValue)
      do {
        // Whom the call reaches says which names may stand there; the gateway has judged them.
        try headers.append(name: member.name, value: value, names: .tokens)
      } catch {
        throw part.problem(member.name, "value", error.problem, accepted: error.accepted)
      }
    }
    return headers
  }

  fileprivate func direction() throws(MessageProblem) -> CallQuality.Direction {
    CallQuality.Direction(
      meanOpinionScore: try optionalNumber("mos"), jitter: try optionalNumber("jitter"),
      loss: try optionalNumber("loss"),
      packets: UInt64(try integer("packets")))
  }
}
