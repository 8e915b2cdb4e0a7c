internal import CLandlineOSIP

/// What the transaction machines of one loop share. The door to libosip2's machines: nothing else calls them.
final class TransactionMachines {
  let pointer: OpaquePointer

  /// `nil` without memory.
  init?() {
    landline_osip_prepare()
    guard let pointer = landline_machines_new() else { return nil }
    self.pointer = pointer
  }

  deinit { landline_machines_free(pointer) }

  /// Sets the time that machines see on this thread.
  func setNow(_ now: Int64) { landline_machines_set_now(now) }

  /// How often libosip2 asked for a random number on this thread: no identifier may come from it.
  static var randomDraws: UInt64 { landline_machines_random_draws() }

  /// What the last call did, in order.
  func events() -> [TransactionMachine.Event] {
    (0..<landline_machines_event_count(pointer)).compactMap {
      TransactionMachine.Event(landline_machines_event(pointer, $0))
    }
  }
}
