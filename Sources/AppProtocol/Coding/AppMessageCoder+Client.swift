import CallModel

// MARK: - From the app

extension AppMessageCoder {
  static func clientMessage(_ object: JSONObject) throws(MessageProblem) -> ClientMessage {
    let (type, reader) = try MessageReader.message(object, ClientMessageType.self)
    if type == .bye { return .bye }
    let number = try reader.requestNumber()
    switch type {
    case .register:
      let client = try reader.optionalString("client", most: MessageLimit.client) ?? ""
      return .register(number, try registration(reader), client: client)
    case .resume:
      let resumption = Resumption(
        session: try reader.string("session", most: MessageLimit.identifier),
        token: try reader.string("token", most: MessageLimit.secret),
        lastEvent: UInt64(try reader.optionalInteger("last_event", in: 0...MessageLimit.integer) ?? 0))
      return .resume(number, resumption)
    case .call: return .request(number, .call(try placeCall(reader)))
    case .listen: return .request(number, .listen(try reader.bool("on")))
    case .alert:
      return .request(number, .alert(try reader.call(), offer: try reader.optionalOffer()))
    case .accept:
      return .request(
        number, .accept(try reader.call(), offer: try reader.optionalOffer(), headers: try headers(reader)))
    case .decline:
      return .request(
        number,
        .decline(
          try reader.call(), try reader.choice("scope", default: .user),
          try reader.choice("reason", default: .declined)))
    case .hangup: return .request(number, .hangUp(try reader.call()))
    case .dtmf:
      return .request(number, .sendDigits(try reader.call(), try reader.string("digits", most: MessageLimit.text)))
    case .offer:
      return .request(number, .offer(try reader.call(), try reader.string("sdp", most: MessageLimit.description)))
    case .answer:
      return .request(number, .answer(try reader.call(), try reader.string("sdp", most: MessageLimit.description)))
    case .mute: return .request(number, .mute(try reader.call(), try reader.bool("muted")))
    case .transfer: return .request(number, try transfer(reader))
    case .complete: return .request(number, .completeTransfer(try reader.call()))
    case .takeBack: return .request(number, .takeBack(try reader.call()))
    case .report: return .request(number, .report(try reader.call(), try statistics(reader)))
    case .room: return .request(number, .room(try reader.call(), try reader.choice("watch", default: .speakers)))
    case .record:
      let call = try reader.call()
      guard let state: RecordingState = try reader.optionalChoice("state") else {
        throw reader.problem("state", "missing", "is missing", accepted: "on, paused or off")
      }
      return .request(number, .record(call, state))
    case .ping: return .ping(number)
    case .bye: return .bye
    }
  }

  private static func registration(_ reader: MessageReader) throws(MessageProblem) -> Registration {
    let proofReader = try reader.part("proof")
    let kind = try proofReader.string("kind", most: MessageLimit.identifier)
    let proof: Registration.Proof
    switch kind {
    case "signature":
      proof = .signature(
        try proofReader.string("signature", most: MessageLimit.secret), sequence: try sequence(proofReader))
    case "token": proof = .token(try proofReader.string("token", most: MessageLimit.secret))
    case "credential":
      proof = .credential(
        id: try proofReader.string("credential", most: MessageLimit.identifier),
        secret: try proofReader.string("secret", most: MessageLimit.secret))
    default: throw proofReader.unknown("kind", kind, ["signature", "token", "credential"])
    }
    // A capability of a newer app is none of ours.
    let capabilities = try reader.strings("capabilities", most: MessageLimit.capabilities)
      .compactMap(AppCapability.init)
    let features = try reader.strings("features", most: MessageLimit.features).compactMap(AppFeature.init)
    let profile = DeviceProfile(
      features: Set(features), isListening: try reader.bool("listen", default: features.contains(.incoming)),
      name: CallFailure.shortened(try reader.optionalString("name", most: MessageLimit.name) ?? ""),
      busyRule: try reader.optionalChoice("busy"))
    let registration = Registration(
      application: try reader.string("application", most: MessageLimit.identifier),
      user: try reader.string("user", most: MessageLimit.user), device: try device(reader), proof: proof,
      capabilities: Set(capabilities), profile: profile)
    guard !registration.capabilities.isDisjoint(with: [.calling, .messaging]) else {
      throw reader.problem(
        "capabilities", "value", "asks for neither calling nor messaging", accepted: "calling, messaging or both")
    }
    return registration
  }

  private static func device(_ reader: MessageReader) throws(MessageProblem) -> String {
    let device = try reader.string("device", most: MessageLimit.identifier)
    let accepted = "1 to \(MessageLimit.identifier) bytes without control characters"
    guard !device.isEmpty else { throw reader.problem("device", "value", "is empty", accepted: accepted) }
    guard CallFailure.shortened(device) == device else {
      throw reader.problem("device", "value", "holds a control character", accepted: accepted)
    }
    return device
  }

  /// 64 bits do not fit the numbers of every JSON writer, so decimal text is taken as well.
  private static func sequence(_ reader: MessageReader) throws(MessageProblem) -> UInt64 {
    if case .string(let text)? = reader.object["sequence"] {
      guard let sequence = UInt64(text), String(sequence) == text else {
        throw reader.problem(
          "sequence", "value", "is no decimal number of 64 bits", accepted: "0 to 18446744073709551615")
      }
      return sequence
    }
    return UInt64(try reader.integer("sequence", in: 0...Int64.max))
  }

  private static func placeCall(_ reader: MessageReader) throws(MessageProblem) -> PlaceCall {
    let to = try reader.part("to")
    let kind: Destination.Kind = try to.choice("kind")
    return PlaceCall(
      kind: kind, target: try to.string(kind.targetMember, most: MessageLimit.target), headers: try headers(reader),
      offer: try reader.string("offer", most: MessageLimit.description),
      callerNumber: try reader.optionalString("from", most: MessageLimit.identifier),
      isAnonymous: try reader.bool("anonymous", default: false), wantsVideo: try reader.bool("video", default: false))
  }

  /// To somebody else, or with another call.
  private static func transfer(_ reader: MessageReader) throws(MessageProblem) -> AppRequest {
    let call = try reader.call()
    if let other = try reader.optionalString("with", most: MessageLimit.identifier) {
      guard reader.object["to"] == nil else {
        throw reader.problem("with", "value", "stands beside to", accepted: "one of to and with")
      }
      return .join(call, with: CallID(unchecked: other))
    }
    let to = try reader.part("to")
    let kind: Destination.Kind = try to.choice("kind")
    return .transfer(
      call,
      TransferOrder(
        kind: kind, target: try to.string(kind.targetMember, most: MessageLimit.target),
        consults: try reader.bool("consult", default: false)))
  }

  private static func headers(_ reader: MessageReader) throws(MessageProblem) -> [PlaceCall.Header] {
    guard let part = try reader.optionalPart("headers") else { return [] }
    guard part.object.members.count <= MessageLimit.headers else {
      throw part.problem(
        "", "many", "has more than \(MessageLimit.headers) members",
        accepted: "at most \(MessageLimit.headers) headers")
    }
    var headers: [PlaceCall.Header] = []
    for member in part.object.members {
      headers.append(
        PlaceCall.Header(name: member.name, value: try part.string(member.name, most: MessageLimit.headerValue)))
    }
    return headers
  }

  private static func statistics(_ reader: MessageReader) throws(MessageProblem) -> ClientStatistics {
    let part = try reader.part("figures")
    guard part.object.members.count <= ClientStatistics.maximumFigures else {
      throw part.problem(
        "", "many", "has more than \(ClientStatistics.maximumFigures) members",
        accepted: "at most \(ClientStatistics.maximumFigures) figures")
    }
    var figures: [String: Double] = [:]
    for member in part.object.members {
      guard member.name.utf8.count <= MessageLimit.figureName else {
        throw part.problem(
          "", "long", "a name takes more than \(MessageLimit.figureName) bytes",
          accepted: "names of at most \(MessageLimit.figureName) bytes")
      }
      figures[member.name] = try part.number(member.name)
    }
    let heard = try reader.optionalPart("heard")
    return ClientStatistics(figures: figures, heard: try heard.map(self.heard))
  }

  private static func heard(_ reader: MessageReader) throws(MessageProblem) -> ClientStatistics.Heard {
    let loss = try reader.number("loss")
    guard (0...1).contains(loss) else {
      throw reader.problem("loss", "range", "is out of range", accepted: "a number of 0 to 1")
    }
    let most = ClientStatistics.Heard.maximumRoundTrip
    let roundTrip = try reader.optionalNumber("round_trip")
    if let roundTrip, !(0...most).contains(roundTrip) {
      throw reader.problem("round_trip", "range", "is out of range", accepted: "milliseconds of 0 to \(Int(most))")
    }
    return ClientStatistics.Heard(loss: loss, roundTrip: roundTrip)
  }
}

extension MessageReader {
  fileprivate func optionalOffer() throws(MessageProblem) -> String? {
    try optionalString("offer", most: MessageLimit.description)
  }
}

extension Destination.Kind {
  /// The member that holds the destination's text.
  var targetMember: String {
    switch self {
    case .phone: "number"
    case .sip: "address"
    case .user: "user"
    case .conference: "conference"
    }
  }
}

// MARK: - To the gateway

extension AppMessageCoder {
  /// Writes an app's message.
  public static func encode(_ message: ClientMessage) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      func head(_ type: ClientMessageType, _ number: RequestNumber?) {
        json.member("type", type.rawValue)
        json.optional("id", number?.value)
      }
      switch message {
      case .register(let number, let registration, let client):
        head(.register, number)
        write(registration, client, into: &json)
      case .resume(let number, let resumption):
        head(.resume, number)
        json.member("session", resumption.session)
        json.member("token", resumption.token)
        json.member("last_event", resumption.lastEvent)
      case .request(let number, let request):
        head(request.type, number)
        write(request, into: &json)
      case .ping(let number): head(.ping, number)
      case .bye: head(.bye, nil)
      }
    }
    return json.bytes
  }

  private static func write(_ registration: Registration, _ client: String, into json: inout JSONWriter) {
    json.member("application", registration.application)
    json.member("user", registration.user)
    json.member("device", registration.device)
    if !client.isEmpty { json.member("client", client) }
    json.array("capabilities", registration.capabilities.map(\.rawValue).sorted()) { $0.string($1) }
    let profile = registration.profile
    if !profile.features.isEmpty {
      json.array("features", profile.features.map(\.rawValue).sorted()) { $0.string($1) }
    }
    // Whoever listens without a feature says so too: a newer feature may ask for it.
    if !profile.features.isEmpty || profile.isListening {
      json.member("listen", profile.isListening)
    }
    if !profile.name.isEmpty { json.member("name", profile.name) }
    json.optional("busy", profile.busyRule?.rawValue)
    json.object("proof") { json in
      switch registration.proof {
      case .signature(let signature, let sequence):
        json.member("kind", "signature")
        json.member("signature", signature)
        json.member("sequence", String(sequence))
      case .token(let token):
        json.member("kind", "token")
        json.member("token", token)
      case .credential(let id, let secret):
        json.member("kind", "credential")
        json.member("credential", id)
        json.member("secret", secret)
      }
    }
  }

  private static func write(_ request: AppRequest, into json: inout JSONWriter) {
    switch request {
    case .call(let call):
      json.object("to") {
        $0.member("kind", call.kind.rawValue)
        $0.member(call.kind.targetMember, call.target)
      }
      write(call.headers, into: &json)
      json.optional("from", call.callerNumber)
      if call.isAnonymous { json.member("anonymous", true) }
      if call.wantsVideo { json.member("video", true) }
      json.member("offer", call.offer)
    case .listen(let isOn): json.member("on", isOn)
    case .alert(let call, let offer):
      json.member("call", call.text)
      json.optional("offer", offer)
    case .accept(let call, let offer, let headers):
      json.member("call", call.text)
      write(headers, into: &json)
      json.optional("offer", offer)
    case .decline(let call, let scope, let reason):
      json.member("call", call.text)
      json.member("scope", scope.rawValue)
      json.member("reason", reason.rawValue)
    case .hangUp(let call): json.member("call", call.text)
    case .sendDigits(let call, let digits):
      json.member("call", call.text)
      json.member("digits", digits)
    case .offer(let call, let description), .answer(let call, let description):
      json.member("call", call.text)
      json.member("sdp", description)
    case .mute(let call, let isMuted):
      json.member("call", call.text)
      json.member("muted", isMuted)
    case .transfer(let call, let order):
      json.member("call", call.text)
      json.object("to") {
        $0.member("kind", order.kind.rawValue)
        $0.member(order.kind.targetMember, order.target)
      }
      if order.consults { json.member("consult", true) }
    case .join(let call, let other):
      json.member("call", call.text)
      json.member("with", other.text)
    case .completeTransfer(let call), .takeBack(let call): json.member("call", call.text)
    case .report(let call, let statistics):
      json.member("call", call.text)
      json.object("figures") { json in
        for (name, value) in statistics.figures.sorted(by: { $0.key < $1.key }) { json.member(name, value) }
      }
      if let heard = statistics.heard {
        json.object("heard") { json in
          json.member("loss", heard.loss)
          if let roundTrip = heard.roundTrip { json.member("round_trip", roundTrip) }
        }
      }
    case .room(let call, let watch):
      json.member("call", call.text)
      json.member("watch", watch.rawValue)
    case .record(let call, let state):
      json.member("call", call.text)
      json.member("state", state.rawValue)
    }
  }
}

extension AppMessageCoder {
  private static func write(_ headers: [PlaceCall.Header], into json: inout JSONWriter) {
    guard !headers.isEmpty else { return }
    json.object("headers") { json in for header in headers { json.member(header.name, header.value) } }
  }
}

extension AppRequest {
  fileprivate var type: ClientMessageType {
    switch self {
    case .call: .call
    case .listen: .listen
    case .alert: .alert
    case .accept: .accept
    case .decline: .decline
    case .hangUp: .hangup
    case .sendDigits: .dtmf
    case .offer: .offer
    case .answer: .answer
    case .mute: .mute
    case .transfer, .join: .transfer
    case .completeTransfer: .complete
    case .takeBack: .takeBack
    case .report: .report
    case .room: .room
    case .record: .record
    }
  }
}
