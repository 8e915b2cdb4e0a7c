import CallModel
import SIPCore
import Testing

/// A user agent and a scripted peer on virtual time. A script is what one would draw as a ladder:
///
///     place                        a command to the agent
///     -> INVITE 1 a                the agent sends: method, CSeq, to whom; [text] in brackets must stand in it
///     <- 180 x                     the peer answers the last INVITE, with this tag; `sdp` adds a description,
///                                  `for BYE` answers another request, `on b` another peer, `| Name: value` adds a field
///     <- BYE x 1                   the peer sends a request in the dialog, with this CSeq
///     == established answer        the agent reports
///     wait 500                     so many milliseconds pass
///
/// Everything that the agent does must stand in the script, in order.
final class Ladder {
  static let listeners: [AdvertisedAddress] = [
    AdvertisedAddress(listener: ListenerID(1), transport: .tcp, host: .ipv4(0xC633_6401), port: 5060),
    AdvertisedAddress(listener: ListenerID(2), transport: .udp, host: .ipv4(0xC633_6401), port: 5060),
    AdvertisedAddress(listener: ListenerID(3), transport: .tls, host: .ipv4(0xC633_6401), port: 5061),
  ]
  /// Peers by their letter: a, b and c over TCP, u and v over UDP, t over TLS.
  static let paths: [String: SIPPath] = [
    "a": path(1, .tcp, 1), "b": path(1, .tcp, 2), "c": path(1, .tcp, 3), "u": path(2, .udp, 4),
    "v": path(2, .udp, 5), "w": path(1, .tcp, 4), "t": path(3, .tls, 6),
  ]

  private static func path(_ listener: UInt16, _ transport: SIPTransport, _ host: UInt32) -> SIPPath {
    SIPPath(
      listener: ListenerID(listener), remote: TransportAddress(transport, .ipv4(0xC000_0200 + host), port: 5060))
  }

  static func paths(_ names: String) -> [SIPPath] { names.compactMap { paths[String($0)] } }

  let agent: UserAgent
  var plan: OutgoingCall
  var now = MonotonicInstant(milliseconds: 1_000)
  let call = CallHandle(1)
  private var sent: [(message: SIPMessage, bytes: [UInt8], path: SIPPath, transaction: TransactionID?)] = []
  private var done: [(line: String, bytes: [UInt8])] = []
  private(set) var exchanges: [ExchangeID] = []
  private(set) var locations: [LocationID] = []
  private(set) var lastEnd: CallEnd?
  private var peerBranch = 0

  init(
    paths: String = "a", limits: UserAgentLimits = .standard, acceptsCalls: Bool = false,
    acquaintance: UserAgentConfiguration.Acquaintance = .everybody, _ change: (inout OutgoingCall) -> Void = { _ in }
  ) {
    var configuration = UserAgentConfiguration(addresses: Ladder.listeners, limits: limits)
    configuration.acceptsCalls = acceptsCalls
    configuration.acquaintance = acquaintance
    let counter = Counter()
    agent = UserAgent(configuration, identifiers: IdentifierSource { counter.next() })
    plan = OutgoingCall(
      target: Ladder.uri("sip:+15550100@example.com"), paths: Ladder.paths(paths),
      identity: OutgoingIdentity(from: NameAddress(Ladder.uri("sip:+15550199@example.net"))),
      offer: MessageBody(sessionDescription: Array("v=0 offer".utf8)), sessionTimer: SessionTimerPolicy(interval: nil))
    change(&plan)
  }

  /// Identifiers that differ and repeat from run to run. One loop uses it.
  // One test owns it; the source's closure only has to be Sendable by its type.
  private final class Counter: @unchecked Sendable {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state
    }
  }

  static func uri(_ text: String) -> SIPURI {
    (try? SIPURI(parsing: text)) ?? SIPURI(scheme: .sip, user: nil, host: .name("broken.invalid"))
  }

  // MARK: - Script

  /// Begins with what the commands before it brought about.
  func run(_ script: String, _ location: SourceLocation = #_sourceLocation) {
    var line = 0
    for text in script.split(separator: "\n", omittingEmptySubsequences: false) {
      line += 1
      let step = text.drop { $0 == " " }
      guard !step.isEmpty else { continue }
      if step.hasPrefix("->") || step.hasPrefix("==") || step.hasPrefix("??") {
        expect(String(step), "script line \(line)", location)
      } else {
        expectNothing("before script line \(line): \(step)", location)
        perform(String(step), "script line \(line)", location)
      }
    }
    expectNothing("at the end", location)
  }

  private func expectNothing(_ place: String, _ location: SourceLocation) {
    #expect(done.isEmpty, "nobody expected \(done.map(\.line)) \(place)", sourceLocation: location)
    done.removeAll()
  }

  private func expect(_ step: String, _ place: String, _ location: SourceLocation) {
    guard !done.isEmpty else {
      Issue.record("\(place): expected '\(step)', nothing happened", sourceLocation: location)
      return
    }
    let actual = done.removeFirst()
    let parts = step.split(separator: "[", omittingEmptySubsequences: false)
    var head = parts.first.map(String.init) ?? ""
    while head.hasSuffix(" ") { head.removeLast() }
    #expect(actual.line == head, "\(place)", sourceLocation: location)
    let text = String(decoding: actual.bytes, as: UTF8.self)
    for part in parts.dropFirst() {
      let wanted = part.prefix { $0 != "]" }
      if wanted.hasPrefix("!") {
        #expect(!text.contains(wanted.dropFirst()), "\(place): \(text)", sourceLocation: location)
      } else {
        #expect(text.contains(wanted), "\(place): \(text)", sourceLocation: location)
      }
    }
  }

  private func perform(_ step: String, _ place: String, _ location: SourceLocation) {
    var words = step.split(separator: " ").map(String.init)
    guard !words.isEmpty else { return }
    let verb = words.removeFirst()
    switch verb {
    case "place": command(.placeCall(call, plan))
    case "hangup": command(.hangUp(call, HangUp()))
    case "answer":
      if let exchange = exchanges.last {
        command(.answer(exchange, MessageBody(sessionDescription: Array("v=0 answer".utf8))))
      }
    case "refuse": if let exchange = exchanges.last { command(.refuse(exchange, status: 488, warning: nil)) }
    case "locate": if let question = locations.last { command(.located(question, Ladder.paths(words.first ?? ""))) }
    case "unregister": command(.unregister(QueryID(1)))
    case "wait": advance(Int64(words.first ?? "") ?? 0)
    case "lost":
      guard let last = sent.last(where: { $0.transaction != nil && (words.isEmpty || name($0.path) == words[0]) }),
        let transaction = last.transaction
      else {
        Issue.record("\(place): nothing was sent", sourceLocation: location)
        return
      }
      input { agent.transportFailed(transaction, at: now, into: &$0) }
    case "<-": receive(step, words, place, location)
    default: Issue.record("\(place): what is '\(verb)'?", sourceLocation: location)
    }
  }

  func command(_ command: UserAgentCommand) { input { agent.handle(command, at: now, into: &$0) } }

  /// Every deadline on the way fires on time.
  func advance(_ milliseconds: Int64) {
    let end = now.advanced(byMilliseconds: milliseconds)
    while let deadline = agent.nextDeadline, deadline <= end {
      now = max(now, deadline)
      input { agent.advance(to: now, into: &$0) }
    }
    now = end
  }

  func receive(_ text: String, from path: SIPPath) {
    input { agent.receive(Array(text.utf8), from: path, at: now, into: &$0) }
  }

  private func input(_ body: (inout [UserAgentEffect]) -> Void) {
    var effects: [UserAgentEffect] = []
    body(&effects)
    for effect in effects { note(effect) }
  }

  /// What happened since the last look, in words.
  func drainLines() -> [String] {
    defer { done.removeAll() }
    return done.map(\.line)
  }

  /// The text of the last message sent.
  var lastSent: String { sent.last.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "" }
  func lastSent(_ method: SIPMethod) -> SIPMessage? { sent.last { $0.message.method == method }?.message }

  // MARK: - The peer

  /// `<- 180 x sdp for INVITE on b | Name: value`, `<- BYE x 1`.
  private func receive(_ step: String, _ words: [String], _ place: String, _ location: SourceLocation) {
    let pieces = step.split(separator: "|").map { $0.drop { $0 == " " } }
    var fields = pieces.dropFirst().map { piece in
      var piece = String(piece)
      while piece.hasSuffix(" ") { piece.removeLast() }
      return piece
    }
    var words = pieces.first.map { $0.split(separator: " ").dropFirst().map(String.init) } ?? []
    guard !words.isEmpty else { return }
    let first = words.removeFirst()
    var method = SIPMethod.invite
    var peer: String?
    var body = ""
    var tag = ""
    var number = ""
    var hasContact = true
    var index = 0
    while index < words.count {
      let word = words[index]
      let next = index + 1 < words.count ? words[index + 1] : ""
      switch word {
      case "for":
        method = SIPMethod(rawValue: next)
        index += 1
      case "on":
        peer = next
        index += 1
      case "sdp": body = "v=0 peer"
      case "sdp2": body = "v=0 peer again"
      case "nocontact": hasContact = false
      default: if tag.isEmpty { tag = word } else { number = word }
      }
      index += 1
    }
    let isResponse = Int(first) != nil
    guard
      let request = sent.last(where: { entry in
        entry.message.method == (isResponse ? method : .invite) && (peer == nil || name(entry.path) == peer)
      })
    else {
      Issue.record("\(place): no \(method) was sent", sourceLocation: location)
      return
    }
    let message = request.message
    let local = (try? message.from.encoded()) ?? ""
    let path = request.path
    let contact = "Contact: <sip:peer@\(path.remote.host):5060>"
    var lines: [String]
    if isResponse {
      lines = ["SIP/2.0 \(first) Phrase"]
      lines += String(decoding: request.bytes, as: UTF8.self).split(separator: "\r\n").filter { $0.hasPrefix("Via:") }
        .map(String.init)
      let to = (try? message.to.encoded()) ?? ""
      lines.append("From: \(local)")
      lines.append("To: \(to)" + (tag.isEmpty || message.to.tag != nil ? "" : ";tag=\(tag)"))
      lines.append("Call-ID: \(message.callID)")
      lines.append("CSeq: \(message.cseq.number) \(message.cseq.method.rawValue)")
      let status = Int(first) ?? 0
      if hasContact, method == .invite, status > 100, status < 300 { lines.append(contact) }
    } else {
      peerBranch += 1
      let remote = (try? NameAddress(message.to.uri).encoded()) ?? ""
      lines = ["\(first) sip:+15550199@198.51.100.1:5060 SIP/2.0"]
      lines.append(
        "Via: SIP/2.0/\(path.remote.transport.rawValue.uppercased()) \(path.remote.host):5060"
          + ";branch=z9hG4bKpeer\(peerBranch)")
      lines.append("From: \(remote);tag=\(tag)")
      lines.append("To: \(local)")
      lines.append("Call-ID: \(message.callID)")
      lines.append("CSeq: \(number.isEmpty ? "1" : number) \(first)")
      lines.append("Max-Forwards: 70")
      lines.append(contact)
    }
    if !body.isEmpty { fields.append("Content-Type: application/sdp") }
    lines += fields
    lines.append("Content-Length: \(body.utf8.count)")
    receive(lines.joined(separator: "\r\n") + "\r\n\r\n" + body, from: path)
  }

  // MARK: - What the agent does, in words

  private func name(_ path: SIPPath) -> String {
    Ladder.paths.first { $0.value.listener == path.listener && $0.value.remote == path.remote }?.key ?? "\(path)"
  }

  private func note(_ effect: UserAgentEffect) {
    switch effect {
    case .send(let bytes, let path, let known):
      guard case .success(let scanned) = SIPGate.admit(bytes, transport: path.remote.transport),
        case .success(let message) = MessageParser.values(of: scanned)
      else {
        done.append(("unreadable", bytes))
        return
      }
      #expect(known.callID == message.callID)
      sent.append((message, bytes, path, known.transaction))
      switch message.startLine {
      case .request(let method, _): done.append(("-> \(method) \(message.cseq.number) \(name(path))", bytes))
      case .response(let status, _): done.append(("-> \(status) \(message.cseq.method) \(name(path))", bytes))
      }
    case .locate(let id, let uri):
      locations.append(id)
      done.append(("?? \((try? uri.encoded()) ?? "")", []))
    case .event(let event): done.append(("== \(describe(event))", []))
    }
  }

  private func text(_ body: MessageBody?) -> String {
    body.map { " '\(String(decoding: $0.bytes, as: UTF8.self))'" } ?? ""
  }

  private func describe(_ event: UserAgentEvent) -> String {
    switch event {
    case .trying: return "trying"
    case .progress(_, let progress):
      return "progress \(progress.status)\(progress.isReliable ? " reliable" : "")\(text(progress.body))"
    case .established(_, let answer): return "established\(text(answer.body))"
    case .ended(_, let end):
      lastEnd = end
      let failure = end.failure.map { failure in
        " \(failure.code.rawValue)" + (failure.sipStatus.map { " \($0)" } ?? "")
      }
      return "ended \(end.cause)\(failure ?? "")"
    case .incoming: return "incoming"
    case .offered(_, let exchange, let body):
      exchanges.append(exchange)
      return "offered\(text(body))"
    case .answered(_, _, let body): return "answered\(text(body))"
    case .offerRefused(_, _, let status): return "offerRefused \(status)"
    case .info(_, let body): return "info\(text(body))"
    case .transferRequested: return "transferRequested"
    case .transferProgress(_, let status): return "transferProgress \(status)"
    case .queryAnswered(_, let outcome):
      return "query \(outcome.status.map(String.init) ?? "none")\(outcome.failure.map { " \($0)" } ?? "")"
    case .registration(_, let state):
      switch state {
      case .registering: return "registering"
      case .registered(let seconds): return "registered \(seconds)"
      case .retrying(let failure, _): return "retrying \(failure.kind)"
      case .failed(let failure): return "registration failed \(failure.kind)"
      case .unregistered: return "unregistered"
      }
    case .phoneBindings(let phone, let bindings):
      return "bindings \(phone)\(bindings.map { " \($0.path.remote.port)" }.joined())"
    }
  }
}
