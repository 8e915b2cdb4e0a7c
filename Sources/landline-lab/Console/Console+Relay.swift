import CallModel
import LandlineConsole
import SimulationKit

extension Console {
  /// Relays datagrams over a bad network until the time is over or the process is asked to end, then tells the counts.
  func relay(_ options: RelayOptions) throws -> Answer {
    try options.check()
    let impairment = try options.path.impairment()
    let relay = try DatagramRelay(
      listen: try SocketPlace(options.listen, option: "--listen"),
      target: try SocketPlace(options.target, option: "--to"), options: impairment, seed: options.seed,
      commands: options.readsCommands ? RelayCommands(options.path) : nil)
    RelayInterrupt.watch()
    try remark("listening", relay.place?.text ?? options.listen)
    let report = try relay.run(
      microseconds: options.duration.map { Int64($0 * 1_000_000) }, until: { RelayInterrupt.isAsked })
    return Console.answer(report, seed: options.seed)
  }

  private static func answer(_ report: DatagramRelay.Report, seed: UInt64) -> Answer {
    let listing = Listing(
      [
        Column("direction"), Column("offered", .number), Column("delivered", .number), Column("lost", .number),
        Column("duplicated", .number), Column("reordered", .number), Column("corrupted", .number),
        Column("overflowed", .number), Column("bytes", .number),
      ],
      rows: [("forth", report.forth), ("back", report.back)].map { name, counts in
        [.text(name)]
          + [
            counts.offered, counts.delivered, counts.lost, counts.duplicated, counts.reordered, counts.corrupted,
            counts.overflowed, counts.bytes,
          ].map { .integer(Int64(clamping: $0)) }
      })
    var answer = Answer("directions", listing)
    let facts: [(String, Int64)] = [
      ("clients", Int64(report.clients)), ("refused", Int64(clamping: report.refused)),
      ("unsent", Int64(clamping: report.unsent)), ("in_flight", Int64(report.inFlight)),
    ]
    answer.members = facts.map { ($0, .integer($1)) } + [("seed", .string(String(seed)))] + answer.members
    answer.blocks.append(
      .line(facts.map { "\($0.replacing("_", with: " ")) \($1)" }.joined(separator: ", ") + ", seed \(seed)"))
    return answer
  }
}
