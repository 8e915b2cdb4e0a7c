import CallModel
import Foundation

/// A ledger after a run, as the operator's commands show it.
struct SoakBooks: Sendable, Encodable {
  /// What the account of the benchmark has been charged, in micro-units.
  var chargedMicro: MicroUnits = 0
  var openHolds = 0
  /// `verify --full` found nothing.
  var isSound = false

  private struct Verdict: Decodable {
    var sound: Bool
    var openHolds: Int
  }

  private struct Balances: Decodable {
    struct Account: Decodable { var postedMicro: MicroUnits }
    var accounts: [Account]
  }

  static func judge(executable: String, ledger: String) throws(BenchProblem) -> SoakBooks {
    let verdict: Verdict = try answer(executable, ["verify", "--full", "--json", "--database", ledger])
    let balances: Balances = try answer(
      executable, ["balance", BenchGateway.account, "--json", "--database", ledger])
    guard let posted = balances.accounts.first?.postedMicro else {
      throw BenchProblem("the ledger has no account \(BenchGateway.account)")
    }
    return SoakBooks(
      chargedMicro: GatewayBooks.creditMicro - posted, openHolds: verdict.openHolds, isSound: verdict.sound)
  }

  /// Its exit code says no more than the answer does.
  private static func answer<Answer: Decodable>(
    _ executable: String, _ arguments: [String]
  ) throws(BenchProblem) -> Answer {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchProblem("no pipe can be made") }
    // The program gets a copy of the one end it writes to.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    let program: PeerProgram
    do {
      defer { close(ends[1]) }
      program = try PeerProgram(executable, arguments, output: ends[1], keepsDiagnostics: false)
    }
    let text = reader.readDataToEndOfFile()
    let code = program.wait()
    do {
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      return try decoder.decode(Answer.self, from: text)
    } catch {
      throw BenchProblem("landline \(arguments.joined(separator: " ")) ended with \(code) and says nothing of use")
    }
  }
}
