internal import CallModel

extension RecordingRule {
  /// `record` and `record-announced` of a number or a trunk; `nil` where nothing is recorded.
  init?(reading section: ConfigurationSection) {
    let format = section.choice("record", RecordingFormat.self)
    let isAnnounced = section.flag("record-announced")
    guard let format else {
      if isAnnounced != nil, !section.has("record") {
        section.addProblem("record-announced", "there is no 'record': nothing is recorded", fix: "record: opus")
      }
      return nil
    }
    self.init(format, isAnnounced: isAnnounced ?? true)
  }
}
