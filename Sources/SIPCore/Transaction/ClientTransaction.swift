/// A request of ours until its last copy and the last copy of its answer are gone.
final class ClientTransaction {
  /// What became of the wish to cancel an INVITE (RFC 3261 section 9.1).
  enum Cancellation {
    case none
    /// Until a provisional response comes.
    case wanted([OutgoingField])
    /// Without a final response at this time the INVITE is given up.
    case sent(until: Int64)
  }

  let id: TransactionID
  let key: ClientTransactionKey
  let machine: TransactionMachine
  let path: SIPPath
  let via: Via
  let callID: String
  /// Not so for a CANCEL that the layer sends itself.
  let isReported: Bool
  /// Until the final response.
  private(set) var request: OutgoingRequest?
  /// Until the final response.
  private(set) var bytes: [UInt8]
  /// The ACK to a failure of an INVITE.
  var acknowledgement: [UInt8] = []
  var hasProvisional = false
  private(set) var hasFinal = false
  var cancellation = Cancellation.none

  init(
    id: TransactionID, key: ClientTransactionKey, machine: TransactionMachine, path: SIPPath, via: Via,
    request: OutgoingRequest, bytes: [UInt8], isReported: Bool
  ) {
    self.id = id
    self.key = key
    self.machine = machine
    self.path = path
    self.via = via
    self.request = request
    callID = request.callID
    self.bytes = bytes
    self.isReported = isReported
  }

  var isInvite: Bool { key.method == SIPMethod.invite.rawValue }

  func finish() {
    hasFinal = true
    request = nil
    bytes = []
    cancellation = .none
  }

  var deadline: Int64? {
    guard case .sent(let until) = cancellation else { return machine.deadline }
    return machine.deadline.map { min($0, until) } ?? until
  }
}
