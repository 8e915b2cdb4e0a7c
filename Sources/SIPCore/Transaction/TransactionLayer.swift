public import CallModel

/// All transactions of one loop (RFC 3261 section 17), run by libosip2's four machines on the time that inputs carry,
/// found through an index of our own.
///
/// Every request and response costs the same, however many transactions live. Nothing is decided here about dialogs or
/// calls; what the layer answers itself is: 100 to an INVITE that waits, 200 and 481 to CANCEL, 482 to a request that
/// came on two ways, 503 above the limit, 400 to what the parser refuses.
public final class TransactionLayer {
  /// Milliseconds until an INVITE without an answer gets 100 (RFC 3261 section 17.2.1).
  public static let tryingAfter: Int64 = 200
  /// 64 × T1 in milliseconds: how long a final response, an ACK and a copy are waited for.
  public static let giveUpAfter: Int64 = 32_000
  /// Largest request that goes into a datagram unasked (RFC 3261 section 18.1.1).
  public static let maximumDatagramBytes = 1300
  /// Transactions of one host that begin something, where nothing else is said.
  public static let standardBeginningPerHost = 10_000
  /// Seconds of Retry-After with a 503 of this layer, where nothing else is said.
  public static let standardRetryAfterSeconds = 5
  /// Most sent-bys of ours that are remembered for responses behind the end of their transactions.
  public static let maximumSentBys = 256

  /// Of clients and servers together; see ``UserAgentLimits/transactions``.
  public let maximumTransactions: Int
  let maximumBeginningPerHost: Int
  let retryAfter: OutgoingField?
  let identifiers: IdentifierSource
  /// Makes tags of responses that nothing is kept for.
  private let tagSecret: UInt64
  let machines: TransactionMachines?
  /// Counted since the layer began, never reset.
  public internal(set) var counters = TransactionCounters()

  var now: Int64 = 0
  var clients: [TransactionID: ClientTransaction] = [:]
  var servers: [TransactionID: ServerTransaction] = [:]
  var clientIndex: [ClientTransactionKey: ClientTransaction] = [:]
  var serverIndex: [ServerTransactionKey: ServerTransaction] = [:]
  var mergedIndex: [MergedRequestKey: TransactionID] = [:]
  /// Requests that begin something, by the host that they came from.
  var beginning: [SIPHost: Int] = [:]
  /// Sent-bys of ours.
  private var sentBys: Set<SentBy> = []
  private var deadlines = BinaryHeap<Deadline>()
  private var lastNumber: UInt64 = 0

  struct SentBy: Hashable {
    /// In lower case.
    let host: String
    let port: UInt16?

    init(host: String, port: UInt16?) {
      self.host = host
      self.port = port
    }

    init(_ via: Via) { self.init(host: via.host.description.lowercased(), port: via.port) }
  }

  /// - Parameters:
  ///   - maximumTransactions: See ``UserAgentLimits/transactions``.
  ///   - maximumBeginningPerHost: See ``UserAgentLimits/beginningTransactionsPerHost``.
  ///   - retryAfterSeconds: What a request above the limit is told.
  public init(
    identifiers: IdentifierSource, maximumTransactions: Int,
    maximumBeginningPerHost: Int = TransactionLayer.standardBeginningPerHost,
    retryAfterSeconds: Int = TransactionLayer.standardRetryAfterSeconds
  ) {
    self.identifiers = identifiers
    self.maximumTransactions = maximumTransactions
    self.maximumBeginningPerHost = maximumBeginningPerHost
    retryAfter = try? OutgoingField("Retry-After", "\(max(0, retryAfterSeconds))")
    tagSecret = identifiers.number()
    machines = TransactionMachines()
  }

  /// When ``advance(to:into:)`` is due next.
  public var nextDeadline: MonotonicInstant? {
    deadlines.first.map { MonotonicInstant(milliseconds: $0.time) }
  }

  /// Requests of peers that there is room for without more memory.
  package var roomForServers: Int { servers.capacity }

  /// Live transactions, those included that only absorb copies.
  public var count: Int { clients.count + servers.count }

  /// A message that passed the gate.
  public func receive(
    _ message: ScannedMessage, from path: SIPPath, at now: MonotonicInstant, into effects: inout [TransactionEffect]
  ) {
    enter(now)
    if let status = message.status {
      receiveResponse(message, status, from: path, into: &effects)
    } else {
      receiveRequest(message, from: path, into: &effects)
    }
    dropStaleDeadlines()
  }

  /// Sends a request in a new client transaction with a fresh branch.
  /// - Parameters:
  ///   - path: Of the transport of `address`.
  ///   - maximumDatagramBytes: A longer request is not sent in a datagram: the caller tries a stream, and where there is
  ///     none sends again without this limit (RFC 3261 section 18.1.1).
  /// - Throws: ``InvalidValue`` when the request cannot be built, with rule `transaction.datagramBytes` when it is too
  ///   long for a datagram, `transaction.limit` when too many transactions live, `transaction.method` for an ACK or a
  ///   CANCEL, `transaction.transport` when path and address differ; nothing was sent then.
  public func send(
    _ request: OutgoingRequest, to path: SIPPath, as address: AdvertisedAddress, at now: MonotonicInstant,
    maximumDatagramBytes: Int = TransactionLayer.maximumDatagramBytes, into effects: inout [TransactionEffect]
  ) throws(InvalidValue) -> TransactionID {
    enter(now)
    defer { dropStaleDeadlines() }
    return try start(request, to: path, as: address, maximumDatagramBytes: maximumDatagramBytes, into: &effects)
  }

  /// Cancels an INVITE of ours: at once when it has a provisional response, otherwise with the first one (RFC 3261
  /// section 9.1). After a final response nothing happens. Without a final response in 64 × T1 after the CANCEL the INVITE
  /// fails as timed out.
  /// - Parameter fields: Reason.
  public func cancel(
    _ id: TransactionID, fields: [OutgoingField], at now: MonotonicInstant, into effects: inout [TransactionEffect]
  ) {
    enter(now)
    if let client = clients[id], client.isInvite, !client.hasFinal, case .none = client.cancellation {
      client.cancellation = .wanted(fields)
      if client.hasProvisional { sendCancel(for: client, into: &effects) }
      schedule(client)
    }
    dropStaleDeadlines()
  }

  /// Answers a server transaction.
  /// - Returns: What was sent, for a 2xx to an INVITE that is repeated until its ACK comes (RFC 3261 section 13.3.1.4).
  /// - Throws: ``InvalidValue`` when the response cannot be built, with rule `transaction.unknown` when there is no such
  ///   request or it has its final response; nothing was sent then.
  @discardableResult
  public func respond(
    _ id: TransactionID, _ response: OutgoingResponse, at now: MonotonicInstant,
    into effects: inout [TransactionEffect]
  ) throws(InvalidValue) -> RepeatableResponse {
    enter(now)
    defer { dropStaleDeadlines() }
    guard let server = servers[id] else { throw Self.unanswerable("there is no such server transaction") }
    return try answer(server, response, into: &effects)
  }

  /// The request of a server transaction, while it can be answered.
  public func originalRequest(_ id: TransactionID) -> SIPMessage? { servers[id]?.request }

  /// Bytes of this transaction could not be sent, or its connection broke before an answer.
  ///
  /// A client transaction ends. A server transaction stays while it has no final response, which may find another way.
  public func transportFailed(
    _ id: TransactionID, at now: MonotonicInstant, into effects: inout [TransactionEffect]
  ) {
    enter(now)
    if let client = clients[id] {
      if client.isReported, !client.hasFinal { effects.append(.failed(id, .transport)) }
      end(client, into: &effects)
    } else if let server = servers[id], server.hasFinal, !server.isAccepted {
      if server.isReported { effects.append(.failed(id, .transport)) }
      end(server, into: &effects)
    }
    dropStaleDeadlines()
  }

  /// Fires every timer that is due.
  public func advance(to now: MonotonicInstant, into effects: inout [TransactionEffect]) {
    enter(now)
    while let due = deadlines.first, due.time <= self.now {
      deadlines.removeFirst()
      if let client = clients[due.id] {
        if client.deadline == due.time { fire(client, into: &effects) }
      } else if let server = servers[due.id], server.deadline == due.time {
        fire(server, into: &effects)
      }
    }
    dropStaleDeadlines()
  }

  /// How often libosip2 drew a random number on this thread: never, for identifiers come from the source alone.
  package static var libraryRandomDraws: UInt64 { TransactionMachines.randomDraws }

  // MARK: Shared by clients and servers

  func enter(_ now: MonotonicInstant) {
    // A clock that stepped back would let timers run twice.
    self.now = max(self.now, now.milliseconds)
    machines?.setNow(self.now)
  }

  func nextID() -> TransactionID {
    lastNumber &+= 1
    return TransactionID(lastNumber)
  }

  func schedule(_ client: ClientTransaction) {
    if let time = client.deadline { deadlines.insert(Deadline(time: time, id: client.id)) }
  }

  func schedule(_ server: ServerTransaction) {
    if let time = server.deadline { deadlines.insert(Deadline(time: time, id: server.id)) }
  }

  private func holds(_ entry: Deadline) -> Bool {
    (clients[entry.id]?.deadline ?? servers[entry.id]?.deadline) == entry.time
  }

  /// Leaves a deadline in front that holds, and not many that do not behind.
  private func dropStaleDeadlines() {
    while let first = deadlines.first, !holds(first) { deadlines.removeFirst() }
    if deadlines.count > 4 * count + 256 { deadlines.removeAll { !holds($0) } }
  }

  func remember(_ sentBy: SentBy) {
    if sentBys.count >= Self.maximumSentBys, !sentBys.contains(sentBy) { sentBys.removeAll() }
    sentBys.insert(sentBy)
  }

  func isOurs(_ sentBy: SentBy) -> Bool { sentBys.contains(sentBy) }

  /// A tag that is the same for every copy of a request (RFC 3261 section 8.2.7).
  func statelessTag(_ message: ScannedMessage) -> String {
    // FNV-1a: an identifier, not a secret.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ tagSecret
    func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    }
    if let via = message.vias.first { add(message.bytes[via.range]) }
    if let callID = message.header(.callID) { add(message.bytes[callID.value]) }
    return String(hash, radix: 16)
  }

  static func unanswerable(_ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "SIP response", rule: "transaction.unknown", offset: nil, problem: problem,
      accepted: "a request that was passed on and has no final response")
  }
}
