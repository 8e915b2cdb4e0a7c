/// Fills the trace of one call within its limits. No clock inside: times come from whoever saw things happen.
public struct CallTraceRecorder: Sendable {
  public private(set) var trace: CallTrace
  private var bytes = 0

  /// - Parameter startedAt: Unix time in microseconds.
  public init(call: String, startedAt: Int64) { trace = CallTrace(call: call, startedAt: startedAt) }

  /// A dialog of the call exists from now on; its messages can be told. Telling one again changes nothing.
  /// - Parameter facts: of its trunk.
  public mutating func dialog(_ dialog: CallTrace.Dialog, facts: CallStorySources.TrunkFacts? = nil) {
    if let trunk = dialog.trunk, let facts { trace.trunks[trunk] = facts }
    guard !trace.dialogs.contains(where: { $0.sipCallID == dialog.sipCallID }) else { return }
    trace.dialogs.append(dialog)
  }

  /// A SIP message of one of the dialogs, as its bytes went over the network.
  /// - Parameters:
  ///   - at: Unix time in microseconds.
  ///   - local: numeric address with port, as ``CallTrace/Message/local``.
  public mutating func message(
    _ message: [UInt8], of sipCallID: String, isSent: Bool, transport: String, local: String, remote: String, at: Int64
  ) {
  }

  public mutating func line(
    _ type: String, _ text: String, description: String? = nil, isFromApp: Bool, at: Int64
  ) {
  }

  public mutating func plan(_ plan: CallTrace.Plan) {}
  public mutating func second(_ second: CallTrace.Second) {}
  public mutating func note(_ kind: CallTrace.Note.Kind, side: CallTrace.Side? = nil, _ text: String = "", at: Int64) {}

  /// Microseconds since the call began, never before.
  public func offset(_ at: Int64) -> Int64 { max(0, at - trace.startedAt) }
}
