extension CallStory {
  /// The story with telephone numbers hidden, wherever they stand: country code and last two digits stay.
  public var masked: CallStory {
    let mask = NumberMask([destination, callerNumber ?? ""])
    func hide(_ text: String) -> String { mask.masked(text) }
    var story = self
    story.destination = hide(destination)
    story.callerNumber = callerNumber.map(hide)
    story.callerName = callerName.map(hide)
    story.signature = signature.map(hide)
    story.user = user.map(hide)
    story.conclusion = hide(conclusion)
    story.findings = findings.map { finding in
      var finding = finding
      finding.title = hide(finding.title)
      finding.explanation = hide(finding.explanation)
      finding.evidence = finding.evidence.map(hide)
      finding.fixes = finding.fixes.map(hide)
      return finding
    }
    story.failure = failure.map { failure in
      var failure = failure
      failure.phrase = failure.phrase.map(hide)
      failure.warning = failure.warning.map(hide)
      failure.reasons = failure.reasons.map(hide)
      return failure
    }
    story.lanes = lanes.map { Lane(id: $0.id, title: hide($0.title), detail: hide($0.detail)) }
    story.ladder = ladder.map { row in
      var row = row
      row.label = hide(row.label)
      row.detail = hide(row.detail)
      return row
    }
    story.descriptions = descriptions.map { description in
      var description = description
      description.from = hide(description.from)
      description.text = hide(description.text)
      return description
    }
    story.codecs?.reasons = codecs?.reasons.map(hide) ?? []
    story.attempts = attempts.map { attempt in
      var attempt = attempt
      attempt.trunk = hide(attempt.trunk)
      return attempt
    }
    story.gaps = gaps.map(hide)
    return story
  }
}
