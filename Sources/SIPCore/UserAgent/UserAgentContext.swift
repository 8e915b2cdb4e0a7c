import CallModel

/// What the machines of a ``UserAgent`` act through: the transaction layer, the identifiers, the time of the input
/// that is being handled, and the effects it has so far. It knows which call a dialog, a transaction or an exchange
/// belongs to, and holds no call.
final class UserAgentContext: AgentContext {
  let configuration: UserAgentConfiguration
  let identifiers: IdentifierSource
  let transactions: TransactionLayer
  var limits: UserAgentLimits { configuration.limits }

  var now: MonotonicInstant = .zero
  /// Of the input that is being handled.
  var effects: [UserAgentEffect] = []
  /// What the transaction layer told and nobody has heard yet; an input of the layer itself adds to it in its order.
  var pending: [TransactionEffect] = []
  private var nextPending = 0
  /// What the layer tells of one action; empty between actions.
  private var told: [TransactionEffect] = []

  private(set) var owners: [TransactionID: TransactionOwner] = [:]
  /// INVITEs of peers, for CANCEL and for a failure response that nobody acknowledges.
  private(set) var served: [TransactionID: CallHandle] = [:]
  private(set) var dialogs: [DialogID: CallHandle] = [:]
  private var exchanges: [ExchangeID: CallHandle] = [:]
  private var exchangesOfCalls: [CallHandle: [ExchangeID]] = [:]
  private var locations: [LocationID: TransactionOwner] = [:]
  /// Whom requests are taken from; `nil` for everybody.
  private var peers: PeerHosts?
  /// Hosts of telephones that have proved who they are.
  private var phoneHosts: PeerHosts
  /// `nil` where no digest can be computed.
  var phones: PhoneDoor?
  private var lastExchange: UInt64 = 0
  private var lastLocation: UInt64 = 0
  private var lastFailed: UInt64 = .max
  private let addresses: [ListenerID: AdvertisedAddress]
  private let userAgentField: OutgoingField?
  private let serverField: OutgoingField?
  var counters = UserAgentCounters()

  /// Unanswered offers of one call that are remembered; the oldest goes first.
  private static let maximumExchanges = 8

  init(_ configuration: UserAgentConfiguration, identifiers: IdentifierSource) {
    self.configuration = configuration
    self.identifiers = identifiers
    transactions = TransactionLayer(
      identifiers: identifiers, maximumTransactions: configuration.limits.transactions,
      maximumBeginningPerHost: configuration.limits.beginningTransactionsPerHost)
    if case .peers(let hosts) = configuration.acquaintance {
      peers = PeerHosts(always: hosts, maximum: configuration.limits.peers)
    }
    phoneHosts = PeerHosts(always: [], maximum: configuration.limits.peers)
    phones = PhoneDoor(configuration.registrar, draw: identifiers.number)
    addresses = Dictionary(configuration.addresses.map { ($0.listener, $0) }) { first, _ in first }
    let name = configuration.productName
    userAgentField = name.isEmpty ? nil : DialogFields.field("User-Agent", name).first
    serverField = name.isEmpty ? nil : DialogFields.field("Server", name).first
  }

  // MARK: - Transactions

  func address(of path: SIPPath) -> AdvertisedAddress? { addresses[path.listener] }

  func send(_ request: OutgoingRequest, to path: SIPPath, for owner: TransactionOwner) -> TransactionID {
    send(request, to: path, for: owner, unlessLargerThanDatagram: false) ?? failed(owner)
  }

  /// - Returns: `nil`, and nothing was sent, where the request is too large for the path to be tried first
  ///   (RFC 3261 section 18.1.1).
  func send(
    _ request: OutgoingRequest, to path: SIPPath, for owner: TransactionOwner, unlessLargerThanDatagram isLimited: Bool
  ) -> TransactionID? {
    var request = request
    add(userAgentField, to: &request.fields)
    guard let address = address(of: path) else { return failed(owner) }
    do {
      let transaction = try transactions.send(
        request, to: path, as: address, at: now,
        maximumDatagramBytes: isLimited ? TransactionLayer.maximumDatagramBytes : .max, into: &told)
      owners[transaction] = owner
      absorb()
      return transaction
    } catch {
      told.removeAll()
      return isLimited && error.rule == "transaction.datagramBytes" ? nil : failed(owner)
    }
  }

  /// An INVITE that another process sent and whose answer may still come.
  func adopt(_ request: OutgoingRequest, via: Via, to path: SIPPath, for owner: TransactionOwner) -> TransactionID? {
    guard let transaction = transactions.adopt(request, via: via, to: path, at: now) else { return nil }
    owners[transaction] = owner
    return transaction
  }

  /// A transaction that fails after this returns.
  private func failed(_ owner: TransactionOwner) -> TransactionID {
    counters.unbuildable += 1
    // Counted down from the top, where the layer's own numbers never get.
    let transaction = TransactionID(lastFailed)
    lastFailed -= 1
    owners[transaction] = owner
    pending.append(.failed(transaction, .transport))
    pending.append(.ended(transaction))
    return transaction
  }

  func acknowledge(_ request: OutgoingRequest, branch: String, to path: SIPPath) {
    guard let address = address(of: path) else {
      counters.unbuildable += 1
      return
    }
    var request = request
    add(userAgentField, to: &request.fields)
    var parameters = [SIPParameter("branch", branch)]
    if address.transport == .udp { parameters.append(SIPParameter("rport")) }
    let via = Via(
      transport: address.transport.rawValue.uppercased(), host: address.host, port: address.port,
      parameters: parameters)
    guard let bytes = try? request.encoded(via: via) else {
      counters.unbuildable += 1
      return
    }
    send(bytes, path, SentMessage(request.callID))
  }

  func cancel(_ transaction: TransactionID, reasons: [OutgoingField]) {
    transactions.cancel(transaction, fields: reasons, at: now, into: &told)
    absorb()
  }

  @discardableResult
  func respond(_ transaction: TransactionID, _ response: OutgoingResponse) -> RepeatableResponse? {
    var response = response
    if response.status > 100 { add(serverField, to: &response.fields) }
    do {
      let repeatable = try transactions.respond(transaction, response, at: now, into: &told)
      absorb()
      return repeatable
    } catch {
      told.removeAll()
      guard error.rule != "transaction.unknown" else { return nil }
      counters.unbuildable += 1
      // Better a bare failure than none, which would leave the peer to its timer.
      guard response.status >= 200 else { return nil }
      let status = response.status < 300 ? 500 : response.status
      _ = try? transactions.respond(
        transaction, OutgoingResponse(status, toTag: response.toTag ?? identifiers.token()), at: now, into: &told)
      absorb()
      return nil
    }
  }

  func repeatResponse(_ response: RepeatableResponse) {
    send(response.bytes, response.path, SentMessage(response.callID))
  }

  private func add(_ product: OutgoingField?, to fields: inout [OutgoingField]) {
    guard let product, !fields.contains(where: { $0.name == product.name }) else { return }
    fields.append(product)
  }

  /// What is to be sent goes out at once, in the order of actions; what was heard waits its turn.
  private func absorb() {
    for effect in told {
      if case .send(let bytes, let path, let message) = effect {
        send(bytes, path, message)
      } else {
        pending.append(effect)
      }
    }
    told.removeAll(keepingCapacity: true)
  }

  func send(_ bytes: [UInt8], _ path: SIPPath, _ message: SentMessage) {
    counters.sent += 1
    effects.append(.send(bytes, path, message))
  }

  func nextTold() -> TransactionEffect? {
    guard nextPending < pending.count else {
      pending.removeAll(keepingCapacity: pending.capacity <= 256)
      nextPending = 0
      return nil
    }
    // Taken out, not copied: a message is large.
    var told = TransactionEffect.ended(TransactionID(0))
    swap(&told, &pending[nextPending])
    nextPending += 1
    return told
  }

  func serve(_ transaction: TransactionID, for call: CallHandle) { served[transaction] = call }

  func forget(_ transaction: TransactionID) {
    owners[transaction] = nil
    served[transaction] = nil
  }

  /// Whether a request outside of dialogs may come from there.
  func knows(_ host: SIPHost) -> Bool { isPeer(host) || phoneHosts.contains(host) }

  /// Whether calls may come from there without a proof.
  func isPeer(_ host: SIPHost) -> Bool { peers?.contains(host) ?? true }

  /// A telephone there has proved who it is.
  func meetPhone(_ host: SIPHost) { phoneHosts.insert(host) }

  /// A request of ours goes there.
  func meet(_ paths: [SIPPath]) {
    for path in paths { peers?.insert(path.remote.host) }
  }

  // MARK: - Names

  func contact(user: String?, scheme: SIPURI.Scheme, for path: SIPPath) -> NameAddress? {
    guard let address = address(of: path) else { return nil }
    var parameters: [SIPParameter] = []
    // A sips Contact says TLS by itself (RFC 5630 section 3.1.4).
    if address.transport != .udp, scheme != .sips {
      parameters.append(SIPParameter("transport", address.transport.rawValue))
    }
    return NameAddress(
      SIPURI(
        scheme: scheme == .sips ? .sips : .sip, user: user, host: address.host, port: address.port,
        parameters: parameters))
  }

  /// The TCP way to the same host and port, for a request too large for UDP (RFC 3261 section 18.1.1).
  func stream(insteadOf path: SIPPath) -> SIPPath? {
    guard path.remote.transport == .udp,
      let address = configuration.addresses.first(where: {
        $0.transport == .tcp && UserAgentContext.areSameFamily($0.host, path.remote.host)
      })
    else { return nil }
    return SIPPath(
      listener: address.listener, remote: TransportAddress(.tcp, path.remote.host, port: path.remote.port))
  }

  private static func areSameFamily(_ left: SIPHost, _ right: SIPHost) -> Bool {
    switch (left, right) {
    case (.ipv4, .ipv6), (.ipv6, .ipv4): false
    default: true
    }
  }

  // MARK: - What belongs to whom

  func emit(_ event: UserAgentEvent) { effects.append(.event(event)) }

  func nextExchange(for call: CallHandle) -> ExchangeID {
    lastExchange += 1
    let exchange = ExchangeID(lastExchange)
    exchanges[exchange] = call
    var open = exchangesOfCalls[call, default: []]
    open.append(exchange)
    if open.count > UserAgentContext.maximumExchanges { exchanges[open.removeFirst()] = nil }
    exchangesOfCalls[call] = open
    return exchange
  }

  /// The call of an offer that was reported, once.
  func closeExchange(_ exchange: ExchangeID) -> CallHandle? {
    guard let call = exchanges.removeValue(forKey: exchange) else { return nil }
    exchangesOfCalls[call]?.removeAll { $0 == exchange }
    if exchangesOfCalls[call]?.isEmpty == true { exchangesOfCalls[call] = nil }
    return call
  }

  func forgetExchanges(of call: CallHandle) {
    for exchange in exchangesOfCalls.removeValue(forKey: call) ?? [] { exchanges[exchange] = nil }
  }

  func open(_ dialog: DialogID, of call: CallHandle) { dialogs[dialog] = call }
  func call(of dialog: DialogID) -> CallHandle? { dialogs[dialog] }
  func close(_ dialog: DialogID) { dialogs[dialog] = nil }

  func locate(_ uri: SIPURI, for owner: TransactionOwner) {
    lastLocation += 1
    locations[LocationID(lastLocation)] = owner
    effects.append(.locate(LocationID(lastLocation), uri))
  }

  /// How much of each kind is held.
  var holdings: [String: Int] {
    [
      "owners": owners.count, "served": served.count, "dialogs": dialogs.count, "exchanges": exchanges.count,
      "exchangesOfCalls": exchangesOfCalls.count, "bindings": phones?.registrar.count ?? 0,
      "locations": locations.count, "transactions": transactions.count,
    ]
  }

  func removeOwner(of location: LocationID) -> TransactionOwner? { locations.removeValue(forKey: location) }
}
