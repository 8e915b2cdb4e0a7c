import CLandlineLedgerFloor
import CallModel
import LandlineSQLite
import LedgerSQLite

/// Pairs of authorisation and settlement, and what they took.
struct PairSample {
  var pairs = 0
  var commits = 0
  var wall = 0.0
  var cpu = 0.0

  var pairsPerSecond: Double { wall > 0 ? Double(pairs) / wall : 0 }
  var microsecondsPerPair: Double { pairs > 0 ? cpu / Double(pairs) * 1e6 : 0 }
}

/// The bare loop over SQLite's C API that the store is held against: same tables, same rows, no rules.
enum LedgerFloor {
  static func run(path: String, group: Int, accounts: Int, seconds: Double) throws -> PairSample {
    let schema = LedgerSchema.schema.versions.joined(separator: "\n")
    let snapshot = try LedgerWorkload.snapshot().text
    var result = landline_ledger_floor_result()
    let code = path.withCString { path in
      schema.withCString { schema in
        snapshot.withCString { snapshot in
          var settings = landline_ledger_floor_settings(
            path: path, schema: schema, snapshot: snapshot, group: Int32(clamping: group),
            accounts: Int32(clamping: accounts), seconds: seconds)
          return landline_ledger_floor_run(&settings, &result)
        }
      }
    }
    guard code == 0 else {
      let problem = withUnsafeBytes(of: &result.problem) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      throw BenchProblem("the bare SQLite loop failed: \(problem)")
    }
    return PairSample(
      pairs: Int(result.pairs), commits: Int(result.commits), wall: result.seconds, cpu: result.cpu_seconds)
  }
}
