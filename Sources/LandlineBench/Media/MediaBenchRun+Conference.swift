extension MediaBenchRun {
  /// Seconds in which every participant of a conference of 20 has its burst.
  private static let delaySeconds = 13.0
  /// So many times the seconds of other trials are tones listened to: what is rare is to be found.
  private static let tonesFactor = 6.0

  private func anchor() throws(BenchProblem) -> JanusMixer? {
    JanusMixer.absence == nil ? try JanusMixer(in: tools.folder) : nil
  }

  private func mixer() throws(BenchProblem) -> LandlineMediaGateway {
    try LandlineMediaGateway(niceness: ConferencePriority.niceness)
  }

  /// What conferences cost, and for the first row how late their sound is.
  func measureConferences(_ row: MediaBench.Row, _ workload: ConferenceWorkload) throws(BenchProblem) {
    let (ours, other) = (try mixer(), try anchor())
    func load(_ workload: ConferenceWorkload, seconds: Double) throws(BenchProblem) -> ConferenceLoad {
      try ConferenceLoad(workload, workload.sendsSilence ? .cost : .quiet, seconds: seconds, tools: tools)
    }
    options.progress("\(row.rawValue): warming up")
    _ = try load(workload, seconds: Self.warmUpSeconds).measure(ours, attempts: 1)
    if let other { _ = try load(workload.forAnchor, seconds: Self.warmUpSeconds).measure(other, attempts: 1) }
    var found = MediaBenchReport.Conference(row: row)
    for round in 1...options.rounds {
      options.progress("\(row.rawValue): round \(round) of \(options.rounds)")
      found.landline.append(try load(workload, seconds: options.seconds).measure(ours))
      if let other { found.anchor.append(try load(workload.forAnchor, seconds: options.seconds).measure(other)) }
    }
    if row == .b11 {
      options.progress("\(row.rawValue): delay")
      let load = try ConferenceLoad(workload, .delay, seconds: Self.delaySeconds, tools: tools)
      found.landlineDelay = try load.measure(ours).delay
      found.anchorDelay = try other.map { other throws(BenchProblem) in try load.measure(other).delay } ?? nil
    }
    self.found.conferences.append(found)
  }

  /// Whether the sum of what is as loud as can be stays a sum.
  func measureTones() throws(BenchProblem) {
    options.progress("B12: tones of full scale")
    let load = try ConferenceLoad(.tones, .tones, seconds: options.seconds * Self.tonesFactor, tools: tools)
    // Once: a gap that another trial would not have is one.
    func heard(_ mixer: any ConferenceMixer) throws(BenchProblem) -> ConferenceTrial.Tones? {
      try load.measure(mixer, attempts: 1).tones
    }
    guard let tones = try heard(mixer()) else { throw BenchProblem("nothing was heard of the tones") }
    let other = try anchor()
    found.tones = MediaBenchReport.Tones(
      landline: tones, anchor: try other.map { other throws(BenchProblem) in try heard(other) } ?? nil)
  }
}
