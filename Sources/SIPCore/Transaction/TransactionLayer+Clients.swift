import CallModel

extension TransactionLayer {
  func start(
    _ request: OutgoingRequest, to path: SIPPath, as address: AdvertisedAddress, maximumDatagramBytes: Int,
    into effects: inout [TransactionEffect]
  ) throws(InvalidValue) -> TransactionID {
    guard request.method != .ack, request.method != .cancel else {
      throw Self.refusal(
        "method", "\(request.method) makes no transaction of its own", accepted: "a method other than ACK and CANCEL")
    }
    guard path.remote.transport == address.transport else {
      throw Self.refusal(
        "transport", "the path is \(path.remote.transport), the address \(address.transport)",
        accepted: "a path and an address of one transport")
    }
    guard count < maximumTransactions else {
      throw Self.refusal(
        "limit", "\(count) transactions live", accepted: "a request while fewer than \(maximumTransactions) live")
    }
    let branch = identifiers.branch()
    var parameters = [SIPParameter("branch", branch)]
    if address.transport == .udp { parameters.append(SIPParameter("rport")) }
    let via = Via(
      transport: address.transport.rawValue.uppercased(), host: address.host, port: address.port,
      parameters: parameters)
    let bytes = try request.encoded(via: via)
    guard path.remote.transport.isStream || bytes.count <= maximumDatagramBytes else {
      throw Self.refusal(
        "datagramBytes", "the request has \(bytes.count) bytes",
        accepted: "at most \(maximumDatagramBytes) bytes in a datagram, more on a stream")
    }
    remember(SentBy(via))
    let id = nextID()
    guard
      run(
        request, bytes, id: id, key: ClientTransactionKey(branch: branch, method: request.method.rawValue), via: via,
        to: path, isReported: true, into: &effects)
    else { throw Self.refusal("memory", "there is no memory for a transaction", accepted: "a request later") }
    return id
  }

  /// Takes over an INVITE that another process sent, as if a provisional response had come: it is not sent again, and
  /// waits for its final response or its CANCEL.
  /// - Returns: `nil` without a branch, memory, or room among the transactions.
  func adopt(_ request: OutgoingRequest, via: Via, to path: SIPPath, at now: MonotonicInstant) -> TransactionID? {
    enter(now)
    guard let branch = via.branch, request.method == .invite, count < maximumTransactions, let machines,
      clientIndex[ClientTransactionKey(branch: branch, method: request.method.rawValue)] == nil,
      let machine = TransactionMachine(machines, .inviteClient, isStream: path.remote.transport.isStream)
    else { return nil }
    remember(SentBy(via))
    let client = ClientTransaction(
      id: nextID(), key: ClientTransactionKey(branch: branch, method: request.method.rawValue), machine: machine,
      path: path, via: via, request: request, bytes: [], isReported: true)
    client.hasProvisional = true
    clients[client.id] = client
    clientIndex[client.key] = client
    // What the machine would send and tell has happened in the other process.
    _ = machine.start()
    _ = machine.respond(100)
    schedule(client)
    return client.id
  }

  private func run(
    _ request: OutgoingRequest, _ bytes: [UInt8], id: TransactionID, key: ClientTransactionKey, via: Via,
    to path: SIPPath, isReported: Bool, into effects: inout [TransactionEffect]
  ) -> Bool {
    guard let machines,
      let machine = TransactionMachine(
        machines, request.method == .invite ? .inviteClient : .client, isStream: path.remote.transport.isStream)
    else { return false }
    let client = ClientTransaction(
      id: id, key: key, machine: machine, path: path, via: via, request: request, bytes: bytes, isReported: isReported)
    clients[id] = client
    clientIndex[key] = client
    perform(machine.start(), for: client, with: nil, into: &effects)
    schedule(client)
    return true
  }

  func receiveResponse(
    _ message: ScannedMessage, _ status: Int, from path: SIPPath, into effects: inout [TransactionEffect]
  ) {
    // Another Via above or below ours: not for this node (RFC 3261 section 8.1.3.3).
    guard message.vias.count == 1, let via = message.vias.first, let branch = via.branch, let cseq = message.cseq
    else {
      counters.strayResponses += 1
      return
    }
    let sentBy = SentBy(host: via.host.lowercased(), port: via.port)
    guard let client = clientIndex[ClientTransactionKey(branch: branch, method: cseq.method)] else {
      if isOurs(sentBy) {
        passLateSuccess(message, status, from: path, into: &effects)
      } else {
        counters.strayResponses += 1
      }
      return
    }
    guard SentBy(client.via) == sentBy else {
      counters.strayResponses += 1
      return
    }
    guard !client.hasFinal else {
      if client.isInvite, (200..<300).contains(status) {
        passLateSuccess(message, status, from: path, into: &effects)
      } else {
        counters.strayResponses += 1
        // A repeated failure of an INVITE gets its ACK again.
        if status >= 300 { perform(client.machine.respond(status), for: client, with: nil, into: &effects) }
      }
      return
    }
    guard let request = client.request else { return }
    let response: SIPMessage
    switch MessageParser.values(of: message) {
    case .success(let values): response = values
    case .failure(let refusal):
      counters.countUnreadable(message, refusal.rule)
      if client.isReported {
        effects.append(.unreadable(client.id, UnreadableResponse(status: status, rule: refusal.rule)))
      }
      return
    }
    if status < 200 {
      client.hasProvisional = true
    } else {
      if client.isInvite, status >= 300 { client.acknowledgement = acknowledgement(of: request, response, client.via) }
      client.finish()
    }
    perform(client.machine.respond(status), for: client, with: (response, path), into: &effects)
    if case .wanted = client.cancellation { sendCancel(for: client, into: &effects) }
    settle(client, into: &effects)
  }

  /// The client transaction that a response would have belonged to, had the gate let it through; `nil` where that cannot
  /// be told or the transaction has its final response.
  func client(ofRefused message: ScannedMessage) -> TransactionID? {
    guard let branch = message.vias.first?.branch, let method = message.cseq?.method,
      let client = clientIndex[ClientTransactionKey(branch: branch, method: method)], client.isReported,
      !client.hasFinal
    else { return nil }
    return client.id
  }

  /// A 2xx to an INVITE belongs to the dialog layer once its transaction is over; nothing else does.
  private func passLateSuccess(
    _ message: ScannedMessage, _ status: Int, from path: SIPPath, into effects: inout [TransactionEffect]
  ) {
    guard (200..<300).contains(status), message.cseq?.method == SIPMethod.invite.rawValue else {
      counters.strayResponses += 1
      return
    }
    if let response = values(of: message) { effects.append(.lateSuccess(response, from: path)) }
  }

  /// RFC 3261 section 17.1.1.3.
  private func acknowledgement(of request: OutgoingRequest, _ response: SIPMessage, _ via: Via) -> [UInt8] {
    // What could be sent once can be sent with another method.
    (try? request.acknowledgement(of: response).encoded(via: via)) ?? []
  }

  func sendCancel(for client: ClientTransaction, into effects: inout [TransactionEffect]) {
    guard case .wanted(let fields) = client.cancellation, let request = client.request else { return }
    client.cancellation = .sent(until: now + Self.giveUpAfter)
    let cancel = request.cancellation(fields)
    guard let bytes = try? cancel.encoded(via: client.via) else { return }
    // Beyond the limit too: there is one for an INVITE at most.
    _ = run(
      cancel, bytes, id: nextID(),
      key: ClientTransactionKey(branch: client.key.branch, method: SIPMethod.cancel.rawValue), via: client.via,
      to: client.path, isReported: false, into: &effects)
  }

  func fire(_ client: ClientTransaction, into effects: inout [TransactionEffect]) {
    if case .sent(let until) = client.cancellation, until <= now {
      effects.append(.failed(client.id, .timeout))
      end(client, into: &effects)
      return
    }
    settle(client, into: &effects)
  }

  /// Runs the timers that are due, those of no length included, and waits for the next one.
  private func settle(_ client: ClientTransaction, into effects: inout [TransactionEffect]) {
    var rounds = 0
    while rounds < 4, clients[client.id] != nil, let due = client.machine.deadline, due <= now {
      perform(client.machine.runTimers(), for: client, with: nil, into: &effects)
      rounds += 1
    }
    if clients[client.id] != nil { schedule(client) }
  }

  private func perform(
    _ events: [TransactionMachine.Event], for client: ClientTransaction, with response: (SIPMessage, SIPPath)?,
    into effects: inout [TransactionEffect]
  ) {
    for event in events {
      switch event {
      case .sendRequest:
        effects.append(
          .send(
            client.bytes, client.path,
            SentMessage(client.callID, transaction: client.id, isInvite: client.isInvite)))
      case .sendAcknowledgement:
        if !client.acknowledgement.isEmpty {
          effects.append(.send(client.acknowledgement, client.path, SentMessage(client.callID, transaction: client.id)))
        }
      case .passResponse:
        if client.isReported, let (message, path) = response {
          effects.append(.response(client.id, message, from: path))
        }
      case .timedOut:
        if client.isReported { effects.append(.failed(client.id, .timeout)) }
      case .transportFailed:
        if client.isReported { effects.append(.failed(client.id, .transport)) }
      case .ended:
        end(client, into: &effects)
      case .sendResponse, .passRequest, .acknowledged:
        break
      }
    }
  }

  func end(_ client: ClientTransaction, into effects: inout [TransactionEffect]) {
    guard clients.removeValue(forKey: client.id) != nil else { return }
    clientIndex[client.key] = nil
    if client.isReported { effects.append(.ended(client.id)) }
  }

  func values(of message: ScannedMessage) -> SIPMessage? {
    switch MessageParser.values(of: message) {
    case .success(let values): return values
    case .failure(let refusal):
      counters.countUnreadable(message, refusal.rule)
      return nil
    }
  }

  private static func refusal(_ rule: String, _ problem: String, accepted: String) -> InvalidValue {
    InvalidValue(
      kind: "SIP request", rule: "transaction.\(rule)", offset: nil, problem: problem, accepted: accepted)
  }
}
