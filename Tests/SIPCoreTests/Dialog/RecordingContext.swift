import CallModel
import SIPCore

/// A context that writes down what a machine does, one readable line for each act.
final class RecordingContext: AgentContext {
  var now = MonotonicInstant.zero
  var identifiers: IdentifierSource
  var limits = UserAgentLimits.standard
  var configuration: UserAgentConfiguration
  private(set) var lines: [String] = []
  private var lastTransaction: UInt64 = 100
  private var lastExchange: UInt64 = 0
  private(set) var lastRequest: OutgoingRequest?
  /// Transactions of requests that were sent, by method.
  private(set) var transactions: [SIPMethod: TransactionID] = [:]
  /// Of every ACK to a 2xx, in order.
  private(set) var acknowledgementBranches: [String] = []

  /// - Parameter draw: What every draw of the identifiers gives.
  init(draw: UInt64 = 5, configuration: UserAgentConfiguration = UserAgentConfiguration(addresses: [])) {
    identifiers = IdentifierSource { draw }
    self.configuration = configuration
  }

  /// Empties the list of lines: those since the last call.
  func drainLines() -> [String] {
    defer { lines = [] }
    return lines
  }

  /// A mark of the test between what came before and after.
  func note(_ line: String) { lines.append(line) }

  func transaction(_ method: SIPMethod) -> TransactionID { transactions[method] ?? TransactionID(0) }

  func contact(user: String?, scheme: SIPURI.Scheme, for path: SIPPath) -> NameAddress? {
    NameAddress(SIPURI(scheme: scheme, user: user, host: .name("us.example")))
  }

  func send(_ request: OutgoingRequest, to path: SIPPath, for owner: TransactionOwner) -> TransactionID {
    lastTransaction += 1
    let transaction = TransactionID(lastTransaction)
    transactions[request.method] = transaction
    lastRequest = request
    lines.append("send \(request.method) \(request.cseq)" + tail(request.fields, request.body))
    return transaction
  }

  func acknowledge(_ request: OutgoingRequest, branch: String, to path: SIPPath) {
    acknowledgementBranches.append(branch)
    lines.append("ack \(request.cseq)" + tail(request.fields, request.body))
  }

  func cancel(_ transaction: TransactionID, reasons: [OutgoingField]) {
    lines.append("cancel" + tail(reasons, nil))
  }

  func respond(_ transaction: TransactionID, _ response: OutgoingResponse) -> RepeatableResponse? {
    let contacts = ([response.contact].compactMap { $0 } + response.otherContacts).count
    lines.append(
      "respond \(transaction.number) \(response.status)" + tail(response.fields, response.body)
        + (contacts > 1 ? " contacts=\(contacts)" : ""))
    return RepeatableResponse(bytes: Array("\(response.status)".utf8), path: TestPeer.path, callID: "c")
  }

  func repeatResponse(_ response: RepeatableResponse) {
    lines.append("repeat \(String(decoding: response.bytes, as: UTF8.self))")
  }

  func emit(_ event: UserAgentEvent) { lines.append("event " + RecordingContext.text(event)) }

  func nextExchange(for call: CallHandle) -> ExchangeID {
    lastExchange += 1
    return ExchangeID(lastExchange)
  }

  func open(_ dialog: DialogID, of call: CallHandle) {}
  /// Dialogs of other calls.
  var others: [DialogID: CallHandle] = [:]
  func call(of dialog: DialogID) -> CallHandle? { others[dialog] }
  func close(_ dialog: DialogID) { lines.append("close") }

  /// Fields that tell a message from others of its kind, and the body.
  private func tail(_ fields: [OutgoingField], _ body: MessageBody?) -> String {
    let silent: Set<String> = ["Allow", "Supported", "Accept"]
    return fields.filter { !silent.contains($0.name) }.map { " \($0.name)=\($0.value)" }.joined()
      + (body.map { " [\(String(decoding: $0.bytes, as: UTF8.self))]" } ?? "")
  }

  private static func text(_ body: MessageBody?) -> String {
    body.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "none"
  }

  private static func text(_ event: UserAgentEvent) -> String {
    switch event {
    case .trying: return "trying"
    case .progress(_, let progress): return "progress \(progress.status)"
    case .established: return "established"
    case .ended(_, let end):
      let reasons = end.reasons.map { "\($0.protocolName) \($0.cause ?? 0)" }.joined(separator: ",")
      return "ended \(end.cause)" + (end.failure.map { " \($0.code.rawValue)" } ?? "")
        + (reasons.isEmpty ? "" : " \(reasons)") + (end.headers["x-why"].map { " x-why=\($0)" } ?? "")
        + (end.wasEstablished ? " up" : "")
    case .incoming(_, let call):
      return "incoming \(call.caller.presented?.uri.user ?? "anonymous") \(text(call.offer))"
        + (call.headers["x-a"].map { " x-a=\($0)" } ?? "")
    case .offered(_, let exchange, let body): return "offered \(exchange.number) \(text(body))"
    case .answered(_, let exchange, let body): return "answered \(exchange.number) \(text(body))"
    case .offerRefused(_, let exchange, let status): return "offerRefused \(exchange.number) \(status)"
    case .info(_, let body): return "info \(text(body))"
    case .transferRequested(_, let target, let replaces):
      let replaced =
        switch replaces {
        case .call(let call): "call \(call.number)"
        case .foreign(let value): value
        case nil: "-"
        }
      return "transferRequested \(target.uri.user ?? "") \(replaced)"
    case .transferProgress(_, let status): return "transferProgress \(status)"
    case .queryAnswered: return "queryAnswered"
    case .registration: return "registration"
    case .phoneBindings: return "bindings"
    }
  }
}

/// What the other end of a dialog sends.
struct TestPeer {
  static let path = SIPPath(
    listener: ListenerID(1),
    remote: TransportAddress(.udp, .ipv4(0xC000_0207), port: 5060))
  static let call = CallHandle(1)

  static func uri(_ user: String, _ host: String = "peer.example") -> SIPURI {
    SIPURI(scheme: .sip, user: user, host: .name(host))
  }

  static func description(_ text: String) -> MessageBody { MessageBody(sessionDescription: Array(text.utf8)) }

  static func body(_ text: String?, _ type: String) -> MessageBody? {
    text.map { MessageBody(contentType: type, bytes: Array($0.utf8)) }
  }

  /// - Parameter toTag: Ours; `nil` for the INVITE that opens the dialog.
  static func request(
    _ method: SIPMethod, _ number: UInt32, _ fields: [(String, String)] = [], body: String? = nil,
    type: String = "application/sdp", contact: String? = "peer", toTag: String? = "us"
  ) -> SIPMessage {
    message(
      .request(method, uri("we", "us.example")), CSeq(number, method), from: "peer", fromTag: "them", to: "we",
      toTag: toTag, fields, Self.body(body, type), contact)
  }

  static func response(
    _ status: Int, _ method: SIPMethod, _ number: UInt32, _ fields: [(String, String)] = [], body: String? = nil,
    contact: String? = "peer"
  ) -> SIPMessage {
    message(
      .response(status: status, phrase: ""), CSeq(number, method), from: "we", fromTag: "us", to: "peer",
      toTag: "them", fields, self.body(body, "application/sdp"), contact)
  }

  private static func message(
    _ startLine: SIPMessage.StartLine, _ cseq: CSeq, from: String, fromTag: String, to: String, toTag: String?,
    _ fields: [(String, String)], _ body: MessageBody?, _ contact: String?
  ) -> SIPMessage {
    return SIPMessage(
      startLine: startLine,
      vias: [
        Via(transport: "UDP", host: .name("peer.example"), port: nil, parameters: [SIPParameter("branch", "z9hG4bK1")])
      ],
      from: NameAddress(uri(from), parameters: [SIPParameter("tag", fromTag)]),
      to: NameAddress(uri(to), parameters: toTag.map { [SIPParameter("tag", $0)] } ?? []), callID: "c1", cseq: cseq,
      contacts: contact.map { [NameAddress(uri($0))] } ?? [], routes: [], recordRoutes: [],
      fields: fields.map { SIPMessage.Field(name: $0.0, value: $0.1) }, body: body)
  }
}
