import AppProtocol
import CallEngine
import CallModel

extension StoryTeller {
  /// From this confidence on a finding is told in the conclusion.
  private static let tellingConfidence = 60

  /// One or two sentences for anybody.
  func conclusion(_ findings: [CallStory.Finding]) -> String {
    [outcome(findings), findings.first.flatMap(reason)].compactMap { $0 }.joined(separator: " ")
  }

  private func reason(_ finding: CallStory.Finding) -> String? {
    guard finding.confidence >= StoryTeller.tellingConfidence else { return nil }
    let title = PlainText.line(finding.title)
    return title.isEmpty ? nil : title + (title.hasSuffix(".") ? "" : ".")
  }

  private func outcome(_ findings: [CallStory.Finding]) -> String {
    guard let call else { return "Only a trace of this call is known: whether and how it ended is not." }
    let times = self.times
    let target = PlainText.line(call.destination)
    guard let record = sources.record else {
      if let answered = times.answered {
        return "The call to \(target) is up; it was answered after \(StoryTeller.duration(answered))\(via)."
      }
      return "The call to \(target) is being set up (\(call.state.rawValue))\(via)."
    }
    guard let answered = times.answered else {
      if record.summary.cause == .canceled {
        return
          "The call to \(target) was given up by the caller after \(StoryTeller.duration(times.end)), before an answer."
      }
      guard let failure = record.summary.failure else {
        return "The call to \(target) ended after \(StoryTeller.duration(times.end)) without an answer."
      }
      let said = failure.sipStatus.map { " (\(failure.code.rawValue), SIP \($0))" } ?? " (\(failure.code.rawValue))"
      return "The call to \(target) did not connect: \(StoryTeller.lowercasedStart(failure.code.details.meaning, said))"
    }
    let talked = StoryTeller.duration(times.end - answered)
    var text = "The call to \(target) was answered after \(StoryTeller.duration(answered))\(via) and lasted \(talked)"
    if let failure = record.summary.failure {
      text +=
        "; it was cut off (\(failure.code.rawValue)): \(StoryTeller.lowercasedStart(failure.code.details.meaning, ""))"
    } else {
      text += hungUpBy.map { "; \($0) hung up." } ?? "."
    }
    return [text, missingSound(record), soundAndCost(record, findings)].compactMap { $0 }.joined(separator: " ")
  }

  /// Which side was not heard: the answer is what is paid for, not the sound.
  private func missingSound(_ record: CallRecord) -> String? {
    let silent = [
      (CallRecord.Flag.noSoundFromCaller, "the calling side"), (.noSoundFromCalled, "the called side"),
    ]
    .filter { record.flags.contains($0.0) }.map(\.1)
    guard !silent.isEmpty else { return nil }
    let charged = record.summary.costMicro.map { $0 > 0 } ?? false
    return "No sound came from \(silent.joined(separator: ", nor from "))"
      + (charged ? "; it is charged from the answer to the end all the same." : ".")
  }

  /// `It sounded good (MOS 4.3 and 4.2) and cost 0.014 EUR.`
  private func soundAndCost(_ record: CallRecord, _ findings: [CallStory.Finding]) -> String? {
    var parts: [String] = []
    let scores = listeningScores
    if let worst = scores.min() {
      // A mean hides what a rule has found: more was missing than a good call misses.
      let isLossy = findings.contains { CallRule.lossy.contains($0.rule) }
      let word = worst >= 4 && !isLossy ? "good" : worst >= 3.5 ? "fair" : worst >= 3 ? "poor" : "bad"
      parts.append("sounded \(word) (MOS \(scores.map { StoryTeller.decimal($0, 1) }.joined(separator: " and ")))")
    }
    switch record.summary.costMicro {
    case 0?: parts.append("cost nothing")
    case let cost?: parts.append("cost \(StoryTeller.money(cost)) \(record.summary.currency)")
    case nil: parts.append("its cost is not known yet")
    }
    return "It " + parts.joined(separator: " and ") + "."
  }

  private var via: String {
    let trunk = call?.trunk ?? trace?.dialogs.last { $0.side == .far }?.trunk
    guard let trunk else { return "" }
    return trunk.hasPrefix(DeskPhone.deviceName(""))
      ? " on \(PlainText.line(trunk))" : " over trunk \(PlainText.line(trunk))"
  }

  /// Who said good-bye first.
  private var hungUpBy: String? {
    let bye = messages.first { $0.read.isRequest && $0.read.method == "BYE" && !$0.message.isSent }
    let hangup = trace?.lines.first { $0.isFromApp && ($0.type == "hangup" || $0.type == "bye") }
    switch (bye, hangup) {
    case (let bye?, let hangup?): return bye.message.at < hangup.at ? "the other side" : "the app"
    case (.some(let bye), nil): return dialog(of: bye)?.side == .near ? "the caller" : "the other side"
    case (nil, .some(let hangup)): return hangup.device == nil ? "the app" : "the other side"
    case (nil, nil): return nil
    }
  }

  // MARK: Words

  /// `412 ms`, `12.3 s`, `2 min 5 s`, `1 h 2 min`.
  static func duration(_ milliseconds: Int64) -> String {
    let milliseconds = max(0, milliseconds)
    switch milliseconds {
    case ..<1000: return "\(milliseconds) ms"
    case ..<60_000: return "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    case ..<3_600_000: return "\(milliseconds / 60_000) min \(milliseconds % 60_000 / 1000) s"
    default: return "\(milliseconds / 3_600_000) h \(milliseconds % 3_600_000 / 60_000) min"
    }
  }

  /// Micro-units as `0.014`: at least two decimals, no zeros after them.
  static func money(_ micro: MicroUnits) -> String { micro.brief }

  /// A number with so many decimals, rounded; `-` where it is none.
  static func decimal(_ value: Double, _ places: Int) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "-" }
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int64((value * Double(scale)).rounded())
    let size = scaled.magnitude
    guard places > 0 else { return "\(scaled)" }
    let digits = String(size % UInt64(scale))
    let zeros = String(repeating: "0", count: places - digits.utf8.count)
    return (scaled < 0 ? "-" : "") + "\(size / UInt64(scale)).\(zeros)\(digits)"
  }

  /// The middle of a sentence, with something before its full stop.
  private static func lowercasedStart(_ sentence: String, _ addition: String) -> String {
    let body = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    let second = body.dropFirst().first
    // An abbreviation keeps its capitals.
    let isWord = second.map { $0.isLowercase || $0 == " " } ?? false
    let start = isWord ? body.prefix(1).lowercased() + body.dropFirst() : body
    return start + addition + "."
  }
}
