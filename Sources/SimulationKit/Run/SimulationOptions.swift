import Foundation
public import LedgerSQLite

/// How a simulation runs.
public struct SimulationOptions: Sendable {
  /// Operations between two quick checks of the books.
  public static let defaultCheckInterval = 2000
  /// Most operations handed over at once.
  public static let maximumBatch = 256

  /// Folder for the ledger's own folder; `nil` for memory (`/dev/shm`) where there is any, else the temporary folder.
  public var directory: String?
  /// What a commit outlives: with `normal`, the end of the process but not of the power.
  public var flush = SQLiteLedgerStore.Flush.normal
  /// Operations between two quick checks; a full one ends the run and follows every crash.
  public var checkInterval = SimulationOptions.defaultCheckInterval
  /// Lost commits and lost answers, each in thousandths of all batches.
  public var faultsPerThousand: UInt64 = 30
  /// Crashes in thousandths of all batches.
  public var crashesPerThousand: UInt64 = 15
  /// Leaves the ledger's file in place when a rule was broken.
  public var keepsBrokenLedger = false
  /// For tests of the checks: what is broken on purpose.
  package var planted: PlantedFault?

  /// Everything else at its default: some lost commits, lost answers and crashes, and no broken ledger kept.
  public init(directory: String? = nil) { self.directory = directory }

  /// Memory-backed files, where Linux offers them.
  static let memoryFolder = "/dev/shm"

  func makeFolder(named name: String) throws -> URL {
    let parent: URL
    if let directory {
      parent = URL(fileURLWithPath: directory, isDirectory: true)
    } else if FileManager.default.isWritableFile(atPath: SimulationOptions.memoryFolder) {
      parent = URL(fileURLWithPath: SimulationOptions.memoryFolder, isDirectory: true)
    } else {
      parent = FileManager.default.temporaryDirectory
    }
    let folder = parent.appendingPathComponent("\(name)-\(UUID().uuidString)", isDirectory: true)
    // Not the folders above it: one that is not there was mistyped.
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    return folder
  }
}

/// A fault made on purpose once in a run: the simulation must report it.
package enum PlantedFault: String, Sendable, CaseIterable {
  /// A balance is one micro-unit too high.
  case alteredBalance
  /// One side of a transfer is gone.
  case lostEntry
  /// A recorded answer is gone.
  case lostAnswer
  /// A recorded answer is another.
  case alteredAnswer
  /// A day's counter is one micro-unit too high.
  case alteredCounter
  /// A settled call lasted longer than was charged.
  case alteredDuration
  /// The model expects one micro-unit too much of every hundredth charge.
  case miscountingModel

  /// Statements that plant the fault; `nil` for the one that is not in the rows.
  var sql: String? {
    switch self {
    case .alteredBalance:
      "UPDATE account SET posted = posted + 1 WHERE id = (SELECT max(id) FROM account WHERE kind = 'prepaid')"
    case .lostEntry: "DELETE FROM entry WHERE transfer = (SELECT max(seq) FROM transfer) AND amount > 0"
    case .lostAnswer: "DELETE FROM op WHERE (account, key) IN (SELECT account, key FROM op ORDER BY seq DESC LIMIT 1)"
    case .alteredAnswer:
      "UPDATE op SET outcome = 'voided' WHERE (account, key) IN (SELECT account, key FROM op ORDER BY seq DESC LIMIT 1)"
    case .alteredCounter:
      "UPDATE counter SET spent = spent + 1 WHERE (account, day) IN (SELECT account, day FROM counter LIMIT 1)"
    case .alteredDuration:
      "UPDATE hold SET duration_ms = duration_ms + 1 WHERE seq = (SELECT max(seq) FROM hold WHERE state = 'settled')"
    case .miscountingModel: nil
    }
  }
}
