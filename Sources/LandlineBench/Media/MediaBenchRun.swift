import Foundation

/// One run of ``MediaBench``: what it has found so far.
final class MediaBenchRun {
  /// Seconds of a trial whose figures nobody keeps.
  static let warmUpSeconds = 2.0
  /// Seconds that the probe call lasts at most; it settles and ends inside the load.
  private static let probeSeconds = 8.0

  let options: MediaBench.Options
  let tools: MediaTools
  private let probe = ProbeCall.Program()
  private let startGateway:
    (_ threads: Int, _ environment: [String: String]) throws(BenchProblem) -> any MediaGatewayUnderTest
  var found = MediaBenchReport()

  /// - Parameter startGateway: starts the gateway under test with so many media threads and variables of its own.
  init(
    _ options: MediaBench.Options, tools: MediaTools,
    startGateway:
      @escaping (_ threads: Int, _ environment: [String: String]) throws(BenchProblem) -> any MediaGatewayUnderTest
  ) {
    self.options = options
    self.tools = tools
    self.startGateway = startGateway
  }

  func report() throws -> MediaBenchReport {
    if !RTPEngineGateway.isInstalled, options.rows.contains(where: { $0.conference == nil }) {
      found.notes.append("rtpengine is not installed: there is no anchor (apt-get install rtpengine-daemon)")
    }
    if probe == nil, options.rows.contains(where: { $0.conference == nil }) {
      found.notes.append(ProbeCall.Program.absence)
    }
    if let absence = JanusMixer.absence, options.rows.contains(where: { $0.conference != nil }) {
      found.notes.append(absence)
    }
    for row in options.rows {
      switch row {
      case .b2d: try measureHandshaken()
      case .b5: try measureDelay()
      case .b6: try measureMemory()
      case .b9: try measureThreads()
      case .b12: try measureTones()
      case .b11, .b11q, .b11l, .b11m: if let workload = row.conference { try measureConferences(row, workload) }
      default: if let workload = row.workload { try measureCost(row, workload) }
      }
    }
    return found
  }

  private func start(
    threads: Int = 1, environment: [String: String] = [:]
  ) throws(BenchProblem) -> any MediaGatewayUnderTest {
    try startGateway(threads, environment)
  }

  private func anchor() throws(BenchProblem) -> RTPEngineGateway? {
    RTPEngineGateway.isInstalled ? try RTPEngineGateway() : nil
  }

  // Cost

  private func measureCost(_ row: MediaBench.Row, _ workload: MediaWorkload) throws {
    let (ours, other) = (try start(), try anchor())
    let load = try MediaLoad(workload, seconds: options.seconds, tools: tools)
    let (ourCalls, anchorCalls) = (options.ourCalls(workload), options.anchorCalls(workload))
    options.progress("\(row.rawValue): warming up")
    let warmUp = try MediaLoad(workload, seconds: Self.warmUpSeconds, tools: tools)
    _ = try warmUp.measure(ours, calls: ourCalls, attempts: 1)
    if let other { _ = try warmUp.measure(other, calls: anchorCalls, attempts: 1) }
    var cost = MediaBenchReport.Cost(row: row)
    for round in 1...options.rounds {
      options.progress("\(row.rawValue): round \(round) of \(options.rounds)")
      cost.landline.append(try load.measure(ours, calls: ourCalls))
      if let other { cost.anchor.append(try load.measure(other, calls: anchorCalls)) }
      cost.floor.append(try load.measureFloor(calls: ourCalls))
    }
    options.progress("\(row.rawValue): a probe call under load")
    cost.landlineProbe = try probeCall(workload, ours, calls: ourCalls)
    if let other { cost.anchorProbe = try probeCall(workload, other, calls: anchorCalls) }
    cost.counts = try count(workload, calls: ourCalls)
    found.costs.append(cost)
  }

  /// A call of another implementation beside the load.
  private func probeCall(
    _ workload: MediaWorkload, _ gateway: any MediaGatewayUnderTest, calls: Int
  ) throws(BenchProblem) -> ProbeCall.Result? {
    guard let probe else { return nil }
    let load = try MediaLoad(workload, seconds: Self.probeSeconds + 3, tools: tools)
    let (app, trunk) = (try PeerProgram.freePort(), try PeerProgram.freePort())
    let ports = try gateway.setUp(workload, calls: calls, app: load.app, trunk: load.trunk)
    let probed = try gateway.setUp(workload, calls: 1, app: app, trunk: trunk)
    let generator = try load.start(ports, through: gateway, settle: 1)
    let result = try ProbeCall.run(
      probe, workload, through: gateway, probed[0], app: app, trunk: trunk, seconds: Self.probeSeconds, tools: tools)
    _ = try generator.finish()
    try gateway.tearDown()
    return result
  }

  /// Allocations and instructions of our gateway for each packet that it takes in.
  private func count(_ workload: MediaWorkload, calls: Int) throws(BenchProblem) -> MediaBenchReport.Counts {
    let counter = try tools.allocationCounter.map { library throws(BenchProblem) in
      try AllocationCounter(library: library, folder: tools.folder)
    }
    let gateway = try start(environment: counter?.environment ?? [:])
    let seconds = 4.0
    let load = try MediaLoad(workload, seconds: seconds + 2, tools: tools)
    let ports = try gateway.setUp(workload, calls: calls, app: load.app, trunk: load.trunk)
    let generator = try load.start(ports, through: gateway, settle: 2)
    // The generator makes its packets before it sends the first one.
    try waitForLoad(gateway)
    let before = counter?.count
    var instructions: Double?
    if let program = tools.instructionCounter {
      instructions = Double(
        try MediaTools.run(program, ["\(gateway.processIdentifier)", "\(seconds)"], in: tools.folder).prefix {
          $0.isNumber
        })
    }
    let after = counter?.count
    let packets = seconds * Double(calls) * 100
    _ = try generator.finish()
    try gateway.tearDown()
    return MediaBenchReport.Counts(
      allocationsPerPacket: before.flatMap { before in after.map { Double($0 - before) / packets } },
      instructionsPerPacket: instructions.map { $0 / packets })
  }

  /// Waits until packets have flowed for two seconds.
  private func waitForLoad(_ gateway: any MediaGatewayUnderTest) throws(BenchProblem) {
    let end = ProcessClock.monotonicSeconds() + 30
    let idle = try ProcessFigures.processorTicks(gateway.processIdentifier)
    while try ProcessFigures.processorTicks(gateway.processIdentifier) < idle + 5 {
      guard ProcessClock.monotonicSeconds() < end else { throw BenchProblem("the load does not start") }
      usleep(100_000)
    }
    usleep(2_000_000)
  }

  /// Pass-through in the shape of real calls.
  private func measureHandshaken() throws {
    let (ours, other) = (try start(), try anchor())
    let calls = options.ourCalls(.passThrough)
    var cost = MediaBenchReport.Cost(row: .b2d)
    for round in 1...options.rounds {
      options.progress("B2d: round \(round) of \(options.rounds)")
      cost.landline.append(try HandshakeLoad.measure(ours, calls: calls, seconds: options.seconds))
      if let other { cost.anchor.append(try HandshakeLoad.measure(other, calls: calls, seconds: options.seconds)) }
    }
    found.costs.append(cost)
  }

  // Threads

  /// One thread and two with twice the calls, in turns. What threads wait for each other, or fetch from each other's
  /// caches, makes the calls of two dearer.
  private func measureThreads() throws {
    let (one, two) = (try start(), try start(threads: 2))
    let load = try MediaLoad(.transcode, seconds: options.seconds, tools: tools)
    let calls = options.ourCalls(.transcode)
    options.progress("B9: warming up")
    let warmUp = try MediaLoad(.transcode, seconds: Self.warmUpSeconds, tools: tools)
    _ = try warmUp.measure(one, calls: calls, attempts: 1)
    _ = try warmUp.measure(two, calls: 2 * calls, attempts: 1)
    var scaling = MediaBenchReport.Scaling()
    for round in 1...options.rounds {
      options.progress("B9: round \(round) of \(options.rounds)")
      scaling.oneThread.append(try load.measure(one, calls: calls))
      scaling.twoThreads.append(try load.measure(two, calls: 2 * calls))
    }
    found.scaling = scaling
  }

  // Delay

  private func measureDelay() throws {
    let (ours, other) = (try start(), try anchor())
    let load = try MediaLoad(.relay, seconds: options.seconds, tools: tools)
    let calls = options.ourCalls(.relay)
    var delay = MediaBenchReport.Delay()
    for round in 1...options.rounds {
      options.progress("B5: relay, round \(round) of \(options.rounds)")
      delay.landline.append(try load.measure(ours, calls: calls, stampsTime: true))
      if let other { delay.anchor.append(try load.measure(other, calls: calls, stampsTime: true)) }
      delay.floor.append(try load.measureFloor(calls: calls))
    }
    options.progress("B5: probe calls under load")
    for workload in [MediaWorkload.relay, .transcode] {
      delay.landlineProbes[workload.rawValue] = try probeCall(workload, ours, calls: options.ourCalls(workload))
      if let other {
        delay.anchorProbes[workload.rawValue] = try probeCall(workload, other, calls: options.anchorCalls(workload))
      }
    }
    found.delay = delay
  }

  // Memory

  private func measureMemory() throws {
    for workload in [MediaWorkload.relay, .transcode] {
      options.progress("B6: memory of a call, \(workload.rawValue)")
      // The anchor would be far over a core with so many transcoded calls.
      let (few, many) = (options.calls ?? 100, (options.calls ?? 100) * 5)
      let anchorFew = workload.isTranscoded ? min(few, 10) : few
      found.memory.append(
        MediaBenchReport.Memory(
          workload: workload, landline: try slope(try start(), workload, few, many),
          anchor: try anchor().map { try slope($0, workload, anchorFew, anchorFew * 5) }))
    }
    options.progress("B6: what finished calls leave")
    found.growth = try growth()
  }

  /// KiB of each call between `few` and `many`, packets flowing.
  private func slope(
    _ gateway: any MediaGatewayUnderTest, _ workload: MediaWorkload, _ few: Int, _ many: Int
  ) throws(BenchProblem) -> MediaBenchReport.Slope {
    let load = try MediaLoad(workload, seconds: 2, tools: tools)
    func kibibytes(_ ports: [CallPorts]) throws(BenchProblem) -> Int {
      _ = try load.start(ports, through: gateway, settle: 1).finish()
      return try ProcessFigures.proportionalKibibytes(gateway.processIdentifier)
    }
    var ports = try gateway.setUp(workload, calls: few, app: load.app, trunk: load.trunk)
    let small = try kibibytes(ports)
    ports += try gateway.setUp(workload, calls: many - few, app: load.app, trunk: load.trunk)
    let large = try kibibytes(ports)
    try gateway.tearDown()
    return MediaBenchReport.Slope(
      few: few, many: many, kibibytesPerCall: Double(large - small) / Double(many - few))
  }

  /// What calls leave behind that are over.
  private func growth() throws(BenchProblem) -> MediaBenchReport.Growth {
    let gateway = try start()
    let (batch, rounds) = (100, 100)
    let load = try MediaLoad(.transcode, seconds: 1, tools: tools)
    func calls() throws(BenchProblem) {
      _ = try gateway.setUp(.transcode, calls: batch, app: load.app, trunk: load.trunk)
      try gateway.tearDown()
    }
    // The first ones fill the pools that later ones use.
    for _ in 0..<10 { try calls() }
    let before = try ProcessFigures.proportionalKibibytes(gateway.processIdentifier)
    for _ in 0..<rounds { try calls() }
    let after = try ProcessFigures.proportionalKibibytes(gateway.processIdentifier)
    return MediaBenchReport.Growth(
      finishedCalls: batch * rounds, kibibytesPerCall: Double(after - before) / Double(batch * rounds))
  }
}
