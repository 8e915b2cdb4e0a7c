internal import CLandlineOSIP

/// One of the four machines of RFC 3261 section 17: it says when to send, what to pass on and when all is over. It knows
/// no message, no address and no identifier.
final class TransactionMachine {
  enum Kind {
    case inviteClient, client, inviteServer, server

    fileprivate var value: landline_machine_kind {
      switch self {
      case .inviteClient: LANDLINE_INVITE_CLIENT
      case .client: LANDLINE_CLIENT
      case .inviteServer: LANDLINE_INVITE_SERVER
      case .server: LANDLINE_SERVER
      }
    }
  }

  enum Event {
    case sendRequest
    /// The ACK to a failure of an INVITE, for the first time or again.
    case sendAcknowledgement
    /// The last response, for the first time or again.
    case sendResponse
    /// The request of a server machine is new.
    case passRequest
    /// The response of a client machine is no repetition.
    case passResponse
    case acknowledged
    case timedOut
    case transportFailed
    case ended

    init?(_ event: landline_machine_event) {
      switch event.source {
      case LANDLINE_MACHINE_SENDS_REQUEST: self = .sendRequest
      case LANDLINE_MACHINE_SENDS_ACK: self = .sendAcknowledgement
      case LANDLINE_MACHINE_SENDS_RESPONSE: self = .sendResponse
      case LANDLINE_MACHINE_ENDED: self = .ended
      case LANDLINE_MACHINE_TRANSPORT_ERROR: self = .transportFailed
      default:
        guard let type = UInt32(exactly: event.type) else { return nil }
        switch osip_message_callback_type_t(rawValue: type) {
        case OSIP_IST_INVITE_RECEIVED, OSIP_NIST_REGISTER_RECEIVED, OSIP_NIST_BYE_RECEIVED, OSIP_NIST_OPTIONS_RECEIVED,
          OSIP_NIST_INFO_RECEIVED, OSIP_NIST_CANCEL_RECEIVED, OSIP_NIST_NOTIFY_RECEIVED, OSIP_NIST_SUBSCRIBE_RECEIVED,
          OSIP_NIST_UNKNOWN_REQUEST_RECEIVED:
          self = .passRequest
        case OSIP_ICT_STATUS_1XX_RECEIVED, OSIP_ICT_STATUS_2XX_RECEIVED, OSIP_ICT_STATUS_3XX_RECEIVED,
          OSIP_ICT_STATUS_4XX_RECEIVED, OSIP_ICT_STATUS_5XX_RECEIVED, OSIP_ICT_STATUS_6XX_RECEIVED,
          OSIP_NICT_STATUS_1XX_RECEIVED, OSIP_NICT_STATUS_2XX_RECEIVED, OSIP_NICT_STATUS_3XX_RECEIVED,
          OSIP_NICT_STATUS_4XX_RECEIVED, OSIP_NICT_STATUS_5XX_RECEIVED, OSIP_NICT_STATUS_6XX_RECEIVED:
          self = .passResponse
        case OSIP_IST_ACK_RECEIVED: self = .acknowledged
        case OSIP_ICT_STATUS_TIMEOUT, OSIP_NICT_STATUS_TIMEOUT: self = .timedOut
        default: return nil
        }
      }
    }
  }

  private let machines: TransactionMachines
  private let pointer: OpaquePointer

  /// `nil` without memory.
  /// - Parameter isStream: Whether the transport repeats what is lost, so that the machine does not.
  init?(_ machines: TransactionMachines, _ kind: Kind, isStream: Bool) {
    guard let pointer = landline_machine_new(machines.pointer, kind.value, isStream) else { return nil }
    self.machines = machines
    self.pointer = pointer
  }

  deinit { landline_machine_free(pointer) }

  /// Sends the request of a client machine, takes that of a server machine.
  func start() -> [Event] {
    landline_machine_start(machines.pointer, pointer)
    return machines.events()
  }

  /// A server machine's request came again.
  func repeatRequest() -> [Event] {
    landline_machine_repeat(machines.pointer, pointer)
    return machines.events()
  }

  func acknowledge() -> [Event] {
    landline_machine_acknowledge(machines.pointer, pointer)
    return machines.events()
  }

  /// A client machine received, or a server machine sends, a response.
  func respond(_ status: Int) -> [Event] {
    landline_machine_respond(machines.pointer, pointer, Int32(truncatingIfNeeded: status))
    return machines.events()
  }

  func runTimers() -> [Event] {
    landline_machine_run_timers(machines.pointer, pointer)
    return machines.events()
  }

  /// Milliseconds when the next timer is due.
  var deadline: Int64? {
    let deadline = landline_machine_deadline(pointer)
    return deadline < 0 ? nil : deadline
  }
}
