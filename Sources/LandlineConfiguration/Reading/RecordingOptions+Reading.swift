internal import CallModel

extension RecordingOptions {
  /// `record`, `record-announced` and `record-tone` of a number or a trunk, or the same behind another first word; `nil` where
  /// nothing is recorded.
  init?(reading section: ConfigurationSection, _ key: String = "record") {
    let format = section.choice(key, RecordingFormat.self)
    let isAnnounced = section.flag("\(key)-announced")
    let hasTone = section.flag("\(key)-tone")
    guard let format else {
      for (name, value) in [("\(key)-announced", isAnnounced), ("\(key)-tone", hasTone)]
      where value != nil && !section.has(key) {
        section.addProblem(name, "there is no '\(key)': nothing is recorded", fix: "\(key): opus")
      }
      return nil
    }
    self.init(format, isAnnounced: isAnnounced ?? true, hasTone: hasTone ?? false)
  }
}
