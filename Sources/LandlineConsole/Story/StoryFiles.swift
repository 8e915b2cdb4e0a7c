import CallEngine
import CallModel
import CallStory
import Foundation
import LandlineHTTP
import LedgerCore
import RecordsSQLite

/// Calls that are over, read from the files of a gateway: it need not run.
extension Console {
  /// Beside the ledger, where a gateway keeps its records.
  func gatewayStorePath() throws -> String {
    URL(fileURLWithPath: try databasePath()).deletingPathExtension().path + "-gateway.db"
  }

  /// - Throws: ``ConsoleError`` with status `notFound` for a call that the files know nothing of.
  func storedSources(of call: CallID) async throws -> CallStorySources {
    let ledgerPath = try databasePath()
    guard exists(ledgerPath) else {
      throw ConsoleError(
        .databaseUnavailable, code: "missing", "no gateway answers, and there is no ledger to read", at: ledgerPath,
        fix: "--database LEDGER, the file of the gateway's environment; --control PATH where a gateway runs")
    }
    let storePath = try gatewayStorePath()
    guard exists(storePath) else {
      throw ConsoleError(
        .databaseUnavailable, code: "missing", "no calls are kept beside the ledger", at: storePath,
        fix: "--database LEDGER, the file of the gateway's environment")
    }
    return try await writing { ledger in
      let store = try SQLiteGatewayStore.open(path: storePath, createIfMissing: false)
      let found: CallStorySources?
      do {
        found = try await StoryReader(ledger: ledger, records: store, traces: store).sources(of: call)
      } catch {
        await store.close()
        throw error
      }
      await store.close()
      guard let found else {
        throw ConsoleError(
          .notFound, code: "unknownCall", "no call has that id", at: call.text,
          fix: "landline history ACCOUNT shows ids of calls; another environment has another ledger: --database LEDGER")
      }
      return found
    }
  }
}
