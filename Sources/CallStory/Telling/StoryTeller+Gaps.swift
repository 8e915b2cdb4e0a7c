import CallEngine
import CallModel

extension StoryTeller {
  /// What is not known, and why.
  var gaps: [String] {
    var gaps: [String] = []
    if call == nil { gaps.append("No record of this call is known: only its trace.") }
    guard let trace else {
      gaps.append(
        "No trace of this call is kept, so its messages and descriptions are not shown. Traces are deleted before records."
      )
      return gaps + missingMoney
    }
    if trace.omittedMessages > 0 {
      gaps.append("\(trace.omittedMessages) later SIP messages were not kept: a trace has a limit.")
    }
    if trace.omittedLines > 0 {
      gaps.append("\(trace.omittedLines) later lines of the app's session were not kept: a trace has a limit.")
    }
    let cut = messages.lazy.filter { $0.message.bytes > CallTrace.maximumMessageBytes }.count
    if cut > 0 {
      gaps.append("\(cut) SIP messages were longer than \(CallTrace.maximumMessageBytes) bytes and were cut.")
    }
    let unreadable = messages.lazy.filter { if case .unreadable = $0.read.start { true } else { false } }.count
    if unreadable > 0 { gaps.append("\(unreadable) messages cannot be read as SIP.") }
    if times.answered != nil, trace.seconds.isEmpty {
      gaps.append("No second of the sound is known: the call may have been too short.")
    }
    // A telephone has no settings of its own.
    let trunks = Set(trace.dialogs.compactMap(\.trunk)).subtracting(sources.trunks.keys)
      .filter { !$0.hasPrefix(DeskPhone.deviceName("")) }
    if !trunks.isEmpty {
      let names = trunks.sorted().map { PlainText.line($0) }.joined(separator: ", ")
      gaps.append("The settings of these trunks at the time are not known: \(names).")
    }
    return gaps + missingMoney
  }

  private var missingMoney: [String] {
    guard sources.money == nil, call?.kind == .phone || call?.kind == .sip else { return [] }
    return ["Nothing of this call is known from the ledger."]
  }
}
