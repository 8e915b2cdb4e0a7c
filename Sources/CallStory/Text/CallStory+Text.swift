import CallModel

extension CallStory {
  /// The story as `landline explain` prints it: plain text, no line longer than the width.
  /// - Parameters:
  ///   - width: Columns, 60 to 240; others are brought in.
  ///   - isMasked: Whether telephone numbers are hidden, as in ``masked``.
  public func text(width: Int, isMasked: Bool) -> String {
    let story = isMasked ? masked : self
    var page = StoryPage(width: width)
    story.head(on: &page)
    page.heading("Conclusion")
    page.paragraph(story.conclusion)
    story.failure.map { CallStory.write($0, on: &page) }
    story.writeFindings(on: &page)
    story.writeTiming(on: &page)
    story.writeLadder(on: &page)
    story.writeDescriptions(on: &page)
    story.writeCodecs(on: &page)
    story.writeMedia(on: &page)
    story.writeAttempts(on: &page)
    story.money.map { CallStory.write($0, on: &page) }
    if !story.gaps.isEmpty {
      page.heading("Not known")
      for gap in story.gaps { page.paragraph(gap) }
    }
    return page.text
  }

  private func head(on page: inout StoryPage) {
    page.line("Call \(call)")
    page.fact("to", kind.isEmpty ? destination : "\(destination) (\(kind))")
    let caller = [callerNumber, callerName, application.map { "application \($0)" }, user.map { "user \($0)" }]
    page.fact("from", caller.compactMap { $0 }.joined(separator: ", "))
    if let signature { page.fact("signature", signature) }
    page.fact("account", [account, environment].filter { !$0.isEmpty }.joined(separator: ", "))
    page.fact("started", startedAt)
    if let endedAt {
      page.fact("ended", endedAt + (cause.map { $0 == "none" ? "" : " (\($0))" } ?? ""))
    } else {
      page.fact("state", isLive ? "\(state), live" : state)
    }
  }

  private static func write(_ failure: Failure, on page: inout StoryPage) {
    page.heading("Why it failed")
    page.fact("code", failure.code)
    page.fact("meaning", failure.meaning)
    var seen: [String] = []
    if let status = failure.sipStatus { seen.append("SIP \(status)" + (failure.phrase.map { " \($0)" } ?? "")) }
    if let cause = failure.q850 { seen.append("Q.850 cause \(cause)" + (failure.q850Name.map { " \($0)" } ?? "")) }
    if let warning = failure.warning { seen.append("Warning: \(warning)") }
    if let refusal = failure.refusal { seen.append(refusal) }
    page.fact("seen", seen.joined(separator: ", "))
    page.fact("said by", failure.saidBy)
    page.fact("again", failure.retry + (failure.retryAfterSeconds.map { ", after \($0) s" } ?? ""))
    page.fact("more", "landline explain \(failure.code)")
  }

  private func writeFindings(on page: inout StoryPage) {
    guard !findings.isEmpty else { return }
    page.heading("What was found")
    for (index, finding) in findings.enumerated() {
      page.fact(
        "\(index + 1).", "\(finding.title) (\(finding.confidence) % sure; to act: \(finding.owner))", nameWidth: 4)
      page.paragraph(finding.explanation, indent: 6)
      for line in finding.evidence { page.fact("seen", line, indent: 6, nameWidth: 6) }
      for line in finding.fixes { page.fact("do", line, indent: 6, nameWidth: 6) }
    }
  }

  private func writeTiming(on page: inout StoryPage) {
    guard let end = timing.map(\.toMilliseconds).max() else { return }
    page.heading("Time")
    let names = timing.map { PlainText.columns($0.name) }.max() ?? 0
    let bar = max(10, page.width - names - 32)
    for phase in timing {
      let length = phase.toMilliseconds - phase.fromMilliseconds
      let time =
        PlainText.padded(PlainText.line(phase.name), to: names) + "  "
        + LadderText.time(phase.fromMilliseconds.multipliedReportingOverflow(by: 1000).partialValue, columns: 9)
        + " s  "
        + PlainText.padded(StoryTeller.duration(length), to: 12)
      let from = CallStory.share(phase.fromMilliseconds, of: end, bar)
      let to = CallStory.share(phase.toMilliseconds, of: end, bar)
      let drawn = String(repeating: " ", count: from) + String(repeating: "=", count: max(1, to - from))
      page.literal(PlainText.trimmedEnd("\(time)  \(drawn)"), indent: 2)
    }
  }

  /// Columns of a bar, at least none and at most one less than all.
  private static func share(_ milliseconds: Int64, of end: Int64, _ columns: Int) -> Int {
    guard end > 0 else { return 0 }
    let share = Double(max(0, milliseconds)) / Double(end) * Double(columns)
    return min(max(0, Int(share)), columns - 1)
  }

  private func writeLadder(on page: inout StoryPage) {
    guard !ladder.isEmpty else { return }
    page.heading("What happened (seconds since the start)")
    for line in LadderText(lanes: lanes, rows: ladder, width: page.width).lines { page.line(line) }
    var legend: [String] = []
    if ladder.contains(where: \.isFailure) { legend.append("! failure") }
    if ladder.contains(where: \.isRepeated) { legend.append("(again) the same message once more") }
    page.fact("", legend.joined(separator: "   "), nameWidth: 0)
  }

  /// Lines of one description.
  private static let shownLines = 150

  private func writeDescriptions(on page: inout StoryPage) {
    guard !descriptions.isEmpty else { return }
    page.heading("Session descriptions")
    // An INVITE that comes again with a password, or goes to the next trunk, says the same once more.
    var shown: [String: String] = [:]
    for description in descriptions {
      let time = LadderText.time(description.microseconds, columns: 0)
      page.paragraph("\(description.side) side, \(description.role) of \(description.from) at \(time) s")
      if let before = shown[description.text] {
        page.paragraph("the same as at \(before) s", indent: 4)
        continue
      }
      shown[description.text] = time
      page.paragraph(description.summary, indent: 4)
      let lines = PlainText.lines(description.text)
      for line in lines.prefix(CallStory.shownLines) { page.literal(line, indent: 6) }
      if lines.count > CallStory.shownLines {
        page.paragraph("and \(lines.count - CallStory.shownLines) lines more", indent: 6)
      }
    }
  }

  private func writeCodecs(on page: inout StoryPage) {
    guard let codecs else { return }
    page.heading("Codecs")
    if codecs.near != nil || codecs.far != nil {
      let path = [codecs.near, "gateway", codecs.far].compactMap { $0 }.joined(separator: " - ")
      page.paragraph(path + (codecs.isTranscoded ? " (converted)" : ""))
    }
    for reason in codecs.reasons { page.paragraph(reason) }
  }

  private func writeMedia(on page: inout StoryPage) {
    guard !media.isEmpty else { return }
    page.heading("Sound")
    var rows: [[String]] = []
    for leg in media {
      let mean = leg.meanScore.map { StoryTeller.decimal($0, 2) } ?? "-"
      let worst = leg.worstScore.map { StoryTeller.decimal($0, 2) } ?? "-"
      rows.append([leg.side.description, "received"] + CallStory.cells(leg.received) + [mean, worst])
      // A record alone does not know it.
      if quality.isEmpty { continue }
      let sent = leg.sent.score > 0 ? StoryTeller.decimal(leg.sent.score, 2) : "-"
      rows.append([leg.side.description, "sent"] + CallStory.cells(leg.sent) + [sent, "-"])
    }
    page.table(
      ["side", "way", "packets", "lost", "jitter", "MOS", "worst"], rows, rightAligned: [2, 3, 4, 5, 6])
  }

  private static func cells(_ direction: CallTrace.Direction) -> [String] {
    ["\(direction.packets)", "\(direction.lost)", "\(StoryTeller.decimal(direction.jitter, 1)) ms"]
  }

  private func writeAttempts(on page: inout StoryPage) {
    guard !attempts.isEmpty else { return }
    page.heading("Attempts")
    let rows = attempts.map { attempt in
      [
        PlainText.line(attempt.trunk), StoryTeller.duration(attempt.milliseconds),
        attempt.sipStatus.map(String.init) ?? "-", attempt.code ?? "-", PlainText.line(attempt.sipCallID ?? "-"),
      ]
    }
    page.table(["trunk", "time", "SIP", "code", "Call-ID"], rows, rightAligned: [1, 2])
  }
}
