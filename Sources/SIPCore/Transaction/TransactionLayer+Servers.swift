import CallModel

extension TransactionLayer {
  /// Whether a request is one that was received before, or goes with one.
  func knows(_ message: ScannedMessage) -> Bool {
    ServerTransactionKey(message).map { serverIndex[$0] != nil } ?? false
  }

  func receiveRequest(
    _ message: ScannedMessage, from path: SIPPath, into effects: inout [TransactionEffect]
  ) {
    guard let key = ServerTransactionKey(message) else { return }
    let isACK = message.method == SIPMethod.ack.rawValue
    guard let server = serverIndex[key] else {
      if isACK {
        passAcknowledgement(message, from: path, into: &effects)
      } else {
        receiveNew(message, key, from: path, into: &effects)
      }
      return
    }
    if isACK {
      acknowledge(server, message, from: path, into: &effects)
      return
    }
    counters.repeatedRequests += 1
    guard let machine = server.machine else { return }
    perform(machine.repeatRequest(), for: server, into: &effects)
  }

  private func passAcknowledgement(
    _ message: ScannedMessage, from path: SIPPath, into effects: inout [TransactionEffect]
  ) {
    if let values = values(of: message) { effects.append(.acknowledgement(values, from: path)) }
  }

  private func acknowledge(
    _ server: ServerTransaction, _ message: ScannedMessage, from path: SIPPath,
    into effects: inout [TransactionEffect]
  ) {
    // Senders that reuse the branch of their INVITE for the ACK to its 2xx, and those before RFC 3261.
    guard let machine = server.machine else {
      passAcknowledgement(message, from: path, into: &effects)
      return
    }
    // Before RFC 3261 only the tag tells the ACK to this response from one to another.
    guard server.key.isUnique || message.to?.tag == server.tag else { return }
    perform(machine.acknowledge(), for: server, into: &effects)
    settle(server, into: &effects)
  }

  private func receiveNew(
    _ message: ScannedMessage, _ key: ServerTransactionKey, from path: SIPPath,
    into effects: inout [TransactionEffect]
  ) {
    // A CANCEL ends more than it begins, and an INVITE has one at most.
    let cancelled =
      message.method == SIPMethod.cancel.rawValue
      ? ServerTransactionKey(message, method: SIPMethod.invite.rawValue).flatMap { serverIndex[$0] } : nil
    let begins = message.to?.tag == nil && message.method != SIPMethod.cancel.rawValue
    let isWithinShare = !begins || beginning[path.remote.host, default: 0] < maximumBeginningPerHost
    guard count < maximumTransactions && isWithinShare || cancelled != nil else {
      counters.refusedRequests += 1
      refuse(message, 503, "Service Unavailable", fields: retryAfter.map { [$0] } ?? [], to: path, into: &effects)
      return
    }
    let request: SIPMessage
    switch MessageParser.values(of: message) {
    case .success(let values): request = values
    case .failure(let refusal):
      counters.countUnreadable(message, refusal.rule)
      if case .answer(let status, let reason) = refusal.action {
        refuse(message, status, reason, to: path, into: &effects)
      }
      return
    }
    let isInvite = request.method == .invite
    let isCancel = request.method == .cancel
    let merged = MergedRequestKey(request)
    if let merged, !isCancel, mergedIndex[merged] != nil {
      counters.mergedRequests += 1
      refuse(message, 482, "Loop Detected", to: path, into: &effects)
      return
    }
    guard let machines,
      let machine = TransactionMachine(
        machines, isInvite ? .inviteServer : .server, isStream: path.remote.transport.isStream)
    else {
      counters.refusedRequests += 1
      refuse(message, 503, "Service Unavailable", fields: retryAfter.map { [$0] } ?? [], to: path, into: &effects)
      return
    }
    let server = ServerTransaction(
      id: nextID(), key: key, machine: machine, path: path, request: request, at: now,
      isReported: !isCancel)
    servers[server.id] = server
    if begins {
      server.countsForHost = true
      beginning[path.remote.host, default: 0] += 1
    }
    serverIndex[key] = server
    if let merged, !isCancel { mergedIndex[merged] = server.id }
    perform(machine.start(), for: server, into: &effects)
    if isCancel { answerCancel(server, of: cancelled, message, request, into: &effects) }
    if servers[server.id] != nil { schedule(server) }
  }

  /// RFC 3261 section 9.2.
  private func answerCancel(
    _ cancel: ServerTransaction, of invite: ServerTransaction?, _ message: ScannedMessage, _ request: SIPMessage,
    into effects: inout [TransactionEffect]
  ) {
    guard let invite else {
      counters.strayCancels += 1
      _ = try? answer(cancel, OutgoingResponse(481, toTag: statelessTag(message)), into: &effects)
      return
    }
    _ = try? answer(cancel, OutgoingResponse(200, toTag: invite.tag ?? statelessTag(message)), into: &effects)
    if !invite.hasFinal { effects.append(.cancelled(invite.id, request)) }
  }

  func answer(
    _ server: ServerTransaction, _ response: OutgoingResponse, into effects: inout [TransactionEffect]
  ) throws(InvalidValue) -> RepeatableResponse {
    guard let request = server.request, let machine = server.machine else {
      throw Self.unanswerable("the request has its final response")
    }
    let bytes = try response.encoded(to: request, receivedFrom: server.path)
    let sent = RepeatableResponse(
      bytes: bytes, path: ResponseRoute.path(for: request, receivedFrom: server.path) ?? server.path,
      callID: request.callID)
    server.answer(response.status, tag: response.toTag, with: sent)
    perform(machine.respond(response.status), for: server, into: &effects)
    settle(server, into: &effects)
    return sent
  }

  func fire(_ server: ServerTransaction, into effects: inout [TransactionEffect]) {
    if server.isAccepted {
      remove(server)
      return
    }
    if server.needsTrying(at: now) {
      server.stopTrying()
      _ = try? answer(server, OutgoingResponse(100), into: &effects)
      return
    }
    if server.isGivenUp(at: now) {
      if server.isReported { effects.append(.failed(server.id, .timeout)) }
      end(server, into: &effects)
      return
    }
    settle(server, into: &effects)
  }

  /// Runs the timers that are due, those of no length included, and waits for the next one.
  private func settle(_ server: ServerTransaction, into effects: inout [TransactionEffect]) {
    var rounds = 0
    while rounds < 4, let due = server.machine?.deadline, due <= now, servers[server.id] != nil {
      perform(server.machine?.runTimers() ?? [], for: server, into: &effects)
      rounds += 1
    }
    if servers[server.id] != nil { schedule(server) }
  }

  private func perform(
    _ events: [TransactionMachine.Event], for server: ServerTransaction, into effects: inout [TransactionEffect]
  ) {
    for event in events {
      switch event {
      case .passRequest:
        if server.isReported, let request = server.request {
          effects.append(.request(server.id, request, from: server.path))
        }
      case .sendResponse:
        if let response = server.response {
          effects.append(.send(response.bytes, response.path, SentMessage(response.callID, transaction: server.id)))
        }
      case .acknowledged:
        server.isAcknowledged = true
      case .transportFailed:
        if server.isReported { effects.append(.failed(server.id, .transport)) }
      case .ended:
        machineEnded(server, into: &effects)
      case .sendRequest, .sendAcknowledgement, .passResponse, .timedOut:
        break
      }
    }
  }

  private func machineEnded(_ server: ServerTransaction, into effects: inout [TransactionEffect]) {
    guard server.isInvite else {
      end(server, into: &effects)
      return
    }
    if (200..<300).contains(server.status) {
      server.accept(until: now + Self.giveUpAfter)
      if server.isReported { effects.append(.ended(server.id)) }
      return
    }
    if !server.isAcknowledged { effects.append(.failed(server.id, .missingAcknowledgement)) }
    end(server, into: &effects)
  }

  func end(_ server: ServerTransaction, into effects: inout [TransactionEffect]) {
    guard servers[server.id] != nil else { return }
    remove(server)
    if server.isReported { effects.append(.ended(server.id)) }
  }

  private func remove(_ server: ServerTransaction) {
    servers[server.id] = nil
    serverIndex[server.key] = nil
    if let key = server.mergedKey, mergedIndex[key] == server.id { mergedIndex[key] = nil }
    if server.countsForHost {
      let left = beginning[server.path.remote.host, default: 1] - 1
      beginning[server.path.remote.host] = left > 0 ? left : nil
    }
    giveRoomBack()
  }

  /// Tables keep the room that a flood made them take; what is left moves into smaller ones. Each pass follows as many
  /// removals as made it necessary.
  private func giveRoomBack() {
    guard servers.capacity > 8192, servers.count < servers.capacity / 8 else { return }
    servers = Dictionary(uniqueKeysWithValues: servers.map { ($0.key, $0.value) })
    serverIndex = Dictionary(uniqueKeysWithValues: serverIndex.map { ($0.key, $0.value) })
    mergedIndex = Dictionary(uniqueKeysWithValues: mergedIndex.map { ($0.key, $0.value) })
  }

  /// Answers without a transaction.
  private func refuse(
    _ message: ScannedMessage, _ status: Int, _ reason: String, fields: [OutgoingField] = [], to path: SIPPath,
    into effects: inout [TransactionEffect]
  ) {
    let source = PacketSource(host: path.remote.host, port: path.remote.port)
    guard
      let bytes = ErrorResponse.bytes(
        to: message, status: status, reason: reason, tag: statelessTag(message), source: source, fields: fields)
    else { return }
    effects.append(.send(bytes, path, SentMessage(message.callID ?? "")))
  }
}
