public import CallModel

/// Fills the trace of one call within its limits. No clock inside: times come from whoever saw things happen.
public struct CallTraceRecorder: Sendable {
  private var kept: CallTrace
  /// Bytes of messages, lines and notes so far.
  private var bytes = 0
  /// Hashes of the messages kept, by which repeated ones are known.
  private var seen: Set<Int> = []
  private var series: [LegID: SecondSeries] = [:]

  /// - Parameter startedAt: Unix time in microseconds.
  public init(call: String, startedAt: Int64) { kept = CallTrace(call: call, startedAt: startedAt) }

  /// Unix time in microseconds.
  public var startedAt: Int64 { kept.startedAt }

  /// Messages that were told, those left out included.
  public var messageCount: Int { kept.messages.count + kept.omittedMessages }

  /// The trace as it stands now.
  public var trace: CallTrace {
    var trace = kept
    trace.seconds = SecondSeries.merged(series)
    return trace
  }

  /// A dialog of the call exists from now on; its messages can be told. Telling one again changes nothing.
  /// - Parameter facts: of its trunk.
  public mutating func dialog(_ dialog: CallTrace.Dialog, facts: CallStorySources.TrunkFacts? = nil) {
    guard kept.dialogs.count < CallTrace.maximumDialogs, index(of: dialog.sipCallID) == nil else { return }
    kept.dialogs.append(dialog)
    if let trunk = dialog.trunk, let facts { kept.trunks[trunk] = facts }
  }

  /// A SIP message of one of the dialogs, as its bytes went over the network. One of no dialog is passed over.
  /// - Parameters:
  ///   - at: Unix time in microseconds.
  ///   - local: numeric address with port, as ``CallTrace/Message/local``.
  /// - Returns: the message as it is kept; `nil` when it was left out.
  @discardableResult
  public mutating func message(
    _ message: [UInt8], of sipCallID: String, isSent: Bool, transport: String, local: String, remote: String, at: Int64
  ) -> CallTrace.Message? {
    guard let dialog = index(of: sipCallID) else { return nil }
    guard kept.messages.count < CallTrace.maximumMessages else {
      kept.omittedMessages += 1
      return nil
    }
    var hasher = Hasher()
    hasher.combine(isSent)
    hasher.combine(dialog)
    message.withUnsafeBytes { hasher.combine(bytes: $0) }
    var shown = Array(message.prefix(CallTrace.maximumMessageBytes))
    TraceRedaction.blot(&shown)
    let text = String(decoding: shown, as: UTF8.self)
    guard reserve(text.utf8.count) else {
      kept.omittedMessages += 1
      return nil
    }
    let isFirst = seen.insert(hasher.finalize()).inserted
    let entry = CallTrace.Message(
      at: offset(at), isSent: isSent, dialog: dialog, transport: transport, local: local, remote: remote, text: text,
      bytes: message.count, isRepeated: !isFirst)
    kept.messages.append(entry)
    return entry
  }

  /// What comes every few seconds and is kept elsewhere, or says nothing.
  private static let passedOver: Set<String> = ["quality", "report", "ping", "pong"]

  /// Something that the app asked or was told. Quality is passed over: seconds tell it.
  /// - Parameters:
  ///   - type: of the message in `landline.v1`.
  ///   - description: the session description it carried.
  ///   - at: Unix time in microseconds.
  public mutating func line(
    _ type: String, _ text: String, description: String? = nil, isFromApp: Bool, device: String? = nil, at: Int64
  ) {
    guard !CallTraceRecorder.passedOver.contains(type) else { return }
    guard kept.lines.count < CallTrace.maximumLines else {
      kept.omittedLines += 1
      return
    }
    let type = TraceRedaction.cut(type, to: 64)
    // Keys that are pressed may be somebody's secret number.
    let isKeys = type == "dtmf" || type == "digit"
    let words = TraceRedaction.words(TraceRedaction.cut(text, to: CallTrace.maximumTextBytes), hidesKeys: isKeys)
    let description = description.map { description in
      var bytes = Array(description.utf8.prefix(CallTrace.maximumMessageBytes))
      TraceRedaction.blot(&bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    guard reserve(type.utf8.count + words.utf8.count + (description?.utf8.count ?? 0)) else {
      kept.omittedLines += 1
      return
    }
    kept.lines.append(
      CallTrace.Line(
        at: offset(at), isFromApp: isFromApp, device: device, type: type, text: words, description: description))
  }

  /// Both ends of a leg agreed. Of more than ``CallTrace/maximumPlans`` the first ones and the last one stay.
  public mutating func plan(_ plan: CallTrace.Plan) {
    if kept.plans.count >= CallTrace.maximumPlans { kept.plans.removeLast() }
    kept.plans.append(plan)
  }

  /// A second of a leg went by. The last one of each leg is always there: it has the leg's totals.
  public mutating func second(_ second: CallTrace.Second) {
    series[second.side, default: SecondSeries(limit: CallTrace.maximumSeconds)].add(second)
  }

  /// - Parameter at: Unix time in microseconds.
  public mutating func note(_ kind: CallTrace.Note.Kind, side: LegID? = nil, _ text: String = "", at: Int64) {
    let words = TraceRedaction.words(TraceRedaction.cut(text, to: CallTrace.maximumTextBytes), hidesKeys: false)
    guard kept.notes.count < CallTrace.maximumNotes, reserve(words.utf8.count) else {
      kept.omittedLines += 1
      return
    }
    kept.notes.append(CallTrace.Note(at: offset(at), kind: kind, side: side, text: words))
  }

  /// Microseconds since the call began, never before.
  public func offset(_ at: Int64) -> Int64 {
    let (difference, isTooLarge) = at.subtractingReportingOverflow(kept.startedAt)
    return isTooLarge ? 0 : max(0, difference)
  }

  private func index(of sipCallID: String) -> Int? { kept.dialogs.firstIndex { $0.sipCallID == sipCallID } }

  /// Counts so many bytes more, where they are within the limit.
  private mutating func reserve(_ count: Int) -> Bool {
    guard count <= CallTrace.maximumBytes - bytes else { return false }
    bytes += count
    return true
  }
}
