/// A request from outside until no copy of it is expected any more.
final class ServerTransaction {
  let id: TransactionID
  let key: ServerTransactionKey
  let mergedKey: MergedRequestKey?
  let path: SIPPath
  let isInvite: Bool
  /// Not so for a CANCEL, which the layer answers itself.
  let isReported: Bool
  /// `nil` once the INVITE has its 2xx: the machine is over then, and copies are absorbed without one (RFC 6026 section
  /// 7.1).
  private(set) var machine: TransactionMachine?
  /// Until the final response.
  private(set) var request: SIPMessage?
  /// The last one, for copies of the request.
  private(set) var response: RepeatableResponse?
  private(set) var status = 0
  /// The tag that our responses put into To.
  private(set) var tag: String?
  var isAcknowledged = false
  /// Whether it takes part of its host's share.
  var countsForHost = false
  /// When an INVITE without an answer gets 100.
  private var tryingAt: Int64?
  /// When a request other than INVITE is given up: its sender has stopped waiting then (RFC 4320 section 1.1).
  private var unansweredUntil: Int64?
  /// How long copies of an accepted INVITE are absorbed.
  private var acceptedUntil: Int64?

  init(
    id: TransactionID, key: ServerTransactionKey, machine: TransactionMachine, path: SIPPath, request: SIPMessage,
    at now: Int64, isReported: Bool
  ) {
    self.id = id
    self.key = key
    self.machine = machine
    self.path = path
    self.request = request
    self.isReported = isReported
    isInvite = request.method == .invite
    tryingAt = isInvite ? now + TransactionLayer.tryingAfter : nil
    unansweredUntil = isInvite ? nil : now + TransactionLayer.giveUpAfter
    mergedKey = MergedRequestKey(request)
    tag = request.to.tag
  }

  var hasFinal: Bool { status >= 200 }
  var isAccepted: Bool { acceptedUntil != nil }

  func answer(_ status: Int, tag: String?, with response: RepeatableResponse) {
    self.status = status
    self.response = response
    if let tag, self.tag == nil, status > 100 { self.tag = tag }
    tryingAt = nil
    if hasFinal {
      request = nil
      unansweredUntil = nil
    }
  }

  /// The machine is over with a 2xx.
  func accept(until: Int64) {
    machine = nil
    response = nil
    acceptedUntil = until
  }

  func stopTrying() { tryingAt = nil }

  func needsTrying(at now: Int64) -> Bool { tryingAt.map { $0 <= now } ?? false }

  func isGivenUp(at now: Int64) -> Bool { unansweredUntil.map { $0 <= now } ?? false }

  /// The machine has no timer before its final response, and no other one runs behind that.
  var deadline: Int64? { acceptedUntil ?? tryingAt ?? unansweredUntil ?? machine?.deadline }
}
