import CallEngine
import CallModel

extension StoryTeller {
  /// Bytes of a label; what stands behind it has it all.
  private static let maximumLabelBytes = 120

  /// Everything that happened, on one axis of time.
  var ladder: [CallStory.Row] {
    var rows: [CallStory.Row] = messages.map(row)
    if let trace {
      rows += trace.lines.map(row)
      rows += trace.plans.map(row)
      rows += trace.notes.map(row)
    }
    // The lines of the record tell the same again where there is a trace.
    if rows.isEmpty, let record = sources.record {
      rows = record.story.map { line in
        CallStory.Row(
          microseconds: line.milliseconds.multipliedReportingOverflow(by: 1000).partialValue, from: StoryTeller.gateway,
          to: StoryTeller.gateway, label: StoryTeller.label(line.text), detail: line.text, kind: .note,
          isRepeated: false, isFailure: false)
      }
    }
    return rows.enumerated().sorted {
      ($0.element.microseconds, $0.offset) < ($1.element.microseconds, $1.offset)
    }.map(\.element)
  }

  private func row(_ seen: Seen) -> CallStory.Row {
    let other = lane(ofDialog: seen.message.dialog)
    let isSent = seen.message.isSent
    return CallStory.Row(
      microseconds: seen.message.at, from: isSent ? StoryTeller.gateway : other,
      to: isSent ? other : StoryTeller.gateway, label: StoryTeller.label(seen.read), detail: seen.message.text,
      kind: .sip, isRepeated: seen.message.isRepeated, isFailure: (seen.read.status ?? 0) >= 300)
  }

  /// `INVITE (SDP)`, `180 Ringing`, `200 OK (BYE)`.
  static func label(_ message: TracedMessage) -> String {
    let hasDescription = message.sessionDescription != nil
    switch message.start {
    case .request(let method, _): return label(method + (hasDescription ? " (SDP)" : ""))
    case .response(let status, let phrase):
      let method = message.method.flatMap { $0 == "INVITE" ? nil : " (\($0))" } ?? ""
      return label("\(status) \(phrase)\(method)" + (hasDescription ? " (SDP)" : ""))
    case .unreadable(let line): return label(line.isEmpty ? "no SIP message" : "no SIP message: \(line)")
    }
  }

  private func row(_ line: CallTrace.Line) -> CallStory.Row {
    let carries = line.description == nil ? "" : " (SDP)"
    let device = line.device.map { "\($0): " } ?? ""
    let label = device + line.type + carries + (line.text.isEmpty ? "" : " \(line.text)")
    let detail = [line.text, line.description ?? ""].filter { !$0.isEmpty }.joined(separator: "\r\n\r\n")
    let id = line.device == nil ? StoryTeller.app : StoryTeller.far
    let app = lanes.contains { $0.id == id } ? id : StoryTeller.gateway
    return CallStory.Row(
      microseconds: line.at, from: line.isFromApp ? app : StoryTeller.gateway,
      to: line.isFromApp ? StoryTeller.gateway : app, label: StoryTeller.label(label), detail: detail, kind: .app,
      isRepeated: false, isFailure: line.type == "error" || (line.type == "ended" && failure != nil))
  }

  private func row(_ plan: CallTrace.Plan) -> CallStory.Row {
    let lane = lane(of: plan.side, at: plan.at)
    let text =
      "sound: \(plan.codec)/\(plan.clockRate), \(plan.security), \(plan.packetMilliseconds) ms, \(plan.direction)"
    let remote = plan.remote.isEmpty ? "" : " to \(plan.remote)"
    return CallStory.Row(
      microseconds: plan.at, from: lane, to: lane, label: StoryTeller.label(text), detail: text + remote, kind: .media,
      isRepeated: false, isFailure: false)
  }

  private func row(_ note: CallTrace.Note) -> CallStory.Row {
    let lane =
      switch (note.kind, note.side) {
      case (.appLost, _), (.appBack, _), (.appGone, _): self.lane(of: .near, at: note.at)
      case (_, let side?): self.lane(of: side, at: note.at)
      case (_, nil): StoryTeller.gateway
      }
    let words = StoryTeller.words(note.kind)
    let text = [words, note.text].filter { !$0.isEmpty }.joined(separator: words.isEmpty ? "" : ": ")
    return CallStory.Row(
      microseconds: note.at, from: lane, to: lane, label: StoryTeller.label(text), detail: text,
      kind: StoryTeller.kind(note.kind), isRepeated: false, isFailure: note.kind == .mediaFailed)
  }

  private static func words(_ kind: CallTrace.Note.Kind) -> String {
    switch kind {
    case .secured: "keys agreed"
    case .mediaFailed: "media failed"
    case .firstMedia: "first sound"
    case .silence: "no more sound"
    case .soundAgain: "sound again"
    case .wayLost: "no packet at all"
    case .wayBack: "packets again"
    case .moved: "from another address"
    case .promptEnded: "prompt over"
    case .ledger: "ledger"
    case .appLost: "connection of the app lost"
    case .appBack: "app is back"
    case .appGone: "app is gone"
    case .story: ""
    }
  }

  private static func kind(_ kind: CallTrace.Note.Kind) -> CallStory.Row.Kind {
    switch kind {
    case .secured, .mediaFailed, .firstMedia, .silence, .soundAgain, .wayLost, .wayBack, .moved, .promptEnded: .media
    case .ledger: .ledger
    case .appLost, .appBack, .appGone, .story: .note
    }
  }

  /// Fit for a line: short, and without control characters.
  private static func label(_ text: String) -> String {
    PlainText.line(TraceRedaction.cut(text, to: maximumLabelBytes))
  }
}
