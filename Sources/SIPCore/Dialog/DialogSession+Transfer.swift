import CallModel

// MARK: - Transfers (RFC 3515)

extension DialogSession {
  // MARK: Asked by us

  /// Asks the peer to call somebody else.
  func transfer(to target: NameAddress) {
    guard isConfirmed else { return }
    guard askedTransfers.count < context.limits.transfers, let value = try? target.encoded(),
      let referTo = try? OutgoingField("Refer-To", value)
    else {
      context.emit(.transferProgress(call, status: 500))
      return
    }
    let message = request(.refer, fields: [referTo] + allow + DialogFields.supported)
    guard send(message, .transfer) != nil else {
      context.emit(.transferProgress(call, status: 500))
      return
    }
    askedTransfers[message.cseq] = TransferSubscriber(askedAt: context.now)
  }

  /// The REFER goes out again with credentials, and a new number.
  func transferRepeated(_ old: UInt32, as new: UInt32) {
    if let subscriber = askedTransfers.removeValue(forKey: old) { askedTransfers[new] = subscriber }
  }

  func transferAnswered(_ status: Int, _ pending: DialogRequest) {
    let number = pending.request.cseq
    guard isLive, var subscriber = askedTransfers[number] else { return }
    let event = subscriber.respond(status: status)
    askedTransfers[number] = subscriber.isOver ? nil : subscriber
    if case .progress(let status) = event {
      context.emit(.transferProgress(call, status: status))
    } else if status < 300 {
      // 202: the peer tries.
      context.emit(.transferProgress(call, status: 100))
    }
    if status == 481 { fail(failure(status), bye: false) }
  }

  func receiveNotify(_ request: SIPMessage, _ transaction: TransactionID) {
    guard let event = ReferEvent(request.value("Event")) else {
      context.respond(transaction, OutgoingResponse(489, fields: DialogFields.field("Allow-Events", "refer")))
      return
    }
    // Without an id the event is that of the only REFER, or of the first.
    let number = event.id ?? askedTransfers.keys.min()
    guard let number, var subscriber = askedTransfers[number] else {
      context.respond(transaction, OutgoingResponse(481))
      return
    }
    let state = request.value("Subscription-State").flatMap { try? SubscriptionState(parsing: $0) }
    let report = subscriber.notify(state, body: request.body, at: context.now)
    askedTransfers[number] = subscriber.isOver ? nil : subscriber
    switch report {
    case .progress(let status):
      context.respond(transaction, OutgoingResponse(200))
      context.emit(.transferProgress(call, status: status))
    case .nothing: context.respond(transaction, OutgoingResponse(200))
    case .unknown: context.respond(transaction, OutgoingResponse(481))
    }
  }

  // MARK: Asked by the peer

  func receiveRefer(_ request: SIPMessage, _ transaction: TransactionID) {
    func refuse(_ status: Int) { context.respond(transaction, OutgoingResponse(status)) }
    guard settings.allowsTransfer, isConfirmed else { return refuse(603) }
    let values = request.values("Refer-To")
    guard values.count == 1, let target = values.first.flatMap({ try? TransferTarget(parsing: $0) }) else {
      return refuse(400)
    }
    guard transferOffer == nil, acceptedTransfers.count < context.limits.transfers else { return refuse(403) }
    transferOffer = TransferOffer(
      transaction: transaction, number: request.cseq.number,
      deadline: context.now.advanced(byMilliseconds: DialogSession.answerMilliseconds))
    context.emit(.transferRequested(call, to: target.address, replaces: target.replaces.map(replaced)))
  }

  /// A dialog of ours is named as we know it: its to-tag is ours (RFC 3891 section 3).
  private func replaced(_ value: String) -> TransferReplaces {
    guard let replaces = try? Replaces(parsing: value),
      let call = context.call(
        of: DialogID(callID: replaces.callID, localTag: replaces.toTag, remoteTag: replaces.fromTag))
    else { return .foreign(value) }
    return .call(call)
  }

  /// 202 and the first NOTIFY.
  func acceptTransfer() {
    guard isLive, let offer = transferOffer else { return }
    transferOffer = nil
    context.respond(offer.transaction, OutgoingResponse(202, contact: dialog.contact))
    let notifier = TransferNotifier(acceptedAt: context.now)
    acceptedTransfers[offer.number] = notifier
    notify(notifier.first(at: context.now), of: offer.number)
  }

  /// - Parameter status: 300 to 699; anything else counts as 603.
  func refuseTransfer(status: Int) {
    guard isLive, let offer = transferOffer else { return }
    transferOffer = nil
    context.respond(offer.transaction, OutgoingResponse((300...699).contains(status) ? status : 603))
  }

  /// Reports how the oldest transfer goes that the peer asked for and that has no final status yet.
  func reportTransfer(status: Int) {
    guard isLive, let number = acceptedTransfers.keys.min(), var notifier = acceptedTransfers[number],
      let report = notifier.report(
        status: status, phrase: ResponsePhrase.registered(status), at: context.now)
    else { return }
    acceptedTransfers[number] = status >= 200 ? nil : notifier
    notify(report, of: number)
  }

  private func notify(_ report: TransferNotifier.Report, of number: UInt32) {
    // The id tells REFERs of one dialog apart (section 2.4.6).
    let fields =
      DialogFields.field("Event", "refer;id=\(number)")
      + DialogFields.field("Subscription-State", report.state.fieldValue)
    send(request(.notify, fields: fields, body: report.body), .transferReport(number))
  }

  // MARK: Time

  func addTransferDeadlines(to next: inout EarliestDeadline) {
    for subscriber in askedTransfers.values { next.add(subscriber.nextDeadline) }
    for notifier in acceptedTransfers.values { next.add(notifier.nextDeadline) }
    next.add(transferOffer?.deadline)
  }

  func advanceTransfers() {
    for (number, var subscriber) in askedTransfers.sorted(by: { $0.key < $1.key }) {
      guard case .progress(let status)? = subscriber.advance(to: context.now) else { continue }
      askedTransfers[number] = nil
      context.emit(.transferProgress(call, status: status))
    }
    for (number, var notifier) in acceptedTransfers.sorted(by: { $0.key < $1.key }) {
      guard let report = notifier.advance(to: context.now) else { continue }
      acceptedTransfers[number] = nil
      notify(report, of: number)
    }
    if let offer = transferOffer, offer.deadline <= context.now {
      transferOffer = nil
      context.respond(offer.transaction, OutgoingResponse(480))
    }
  }
}

/// The value of an Event field of a transfer: `refer`, and which REFER where it says so.
private struct ReferEvent {
  var id: UInt32?

  /// `nil` for other events.
  init?(_ value: String?) {
    guard let value else { return nil }
    let parts = value.utf8.split(separator: MessageCharacter.semicolon, maxSplits: 16).map {
      $0.filter { !MessageCharacter.isBlank($0) }.map(MessageCharacter.lowercase)
    }
    guard let name = parts.first, name.elementsEqual("refer".utf8) else { return nil }
    for parameter in parts.dropFirst() where parameter.starts(with: "id=".utf8) {
      id = UInt32(String(decoding: parameter.dropFirst(3), as: UTF8.self))
    }
  }
}
