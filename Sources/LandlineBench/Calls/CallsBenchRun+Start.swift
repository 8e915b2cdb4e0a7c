import Foundation

extension CallsBenchRun {
  private static let limit = 50.0
  /// A large ledger may not show.
  private static let rise = 1.2

  /// B8: from the start of the process until OPTIONS is answered and `/readyz` says 200.
  func measureStart() async throws {
    let small = try place("b8")
    var starts: [Double] = []
    for round in 0...options.rounds {
      options.progress("B8: an empty ledger, start \(round + 1) of \(options.rounds + 1)")
      let ready = try start(small, GatewayBooks.ledger(in: small))
      // The first brings program and libraries into memory, and makes what a gateway keeps.
      if round == 0 {
        figure(.b8, "the first start in a new folder, ms", [ready], decimals: 1)
      } else {
        starts.append(ready)
      }
    }
    figure(
      .b8, "start to ready, empty ledger, ms", starts, decimals: 1, target: .init(subject: .value, limit: Self.limit))
    guard options.ledgerEntries > 0 else { return }
    options.progress("B8: making a ledger of \(options.ledgerEntries) entries")
    let large = "\(folder)/b8-large.db"
    var ledger = BalanceBench.Options()
    ledger.postings = options.ledgerEntries
    ledger.progress = options.progress
    try await BalanceBench.build(large, ledger)
    var largeStarts: [Double] = []
    for round in 0...options.rounds {
      options.progress("B8: the large ledger, start \(round + 1) of \(options.rounds + 1)")
      let ready = try start(small, large)
      if round > 0 { largeStarts.append(ready) }
    }
    figure(
      .b8, "start to ready, \(options.ledgerEntries) entries, ms", largeStarts, decimals: 1,
      target: .init(subject: .value, limit: Self.limit))
    figure(
      .b8, "large ledger over empty ledger", zip(largeStarts, starts).map { $0 / $1 }, decimals: 2,
      target: .init(subject: .value, limit: Self.rise))
  }

  /// - Returns: milliseconds.
  private func start(_ folder: String, _ ledger: String) throws(BenchProblem) -> Double {
    let gateway = try BenchGateway(
      executable: executable, folder: folder, ports: BenchGateway.Ports(), ledger: ledger)
    gateway.stop()
    return gateway.start.ready
  }
}
