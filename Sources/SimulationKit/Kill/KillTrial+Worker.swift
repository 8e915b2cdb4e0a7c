import CallModel
import Foundation
import Glibc
import LedgerCore
import LedgerSQLite

extension KillTrial {
  /// Batches in flight at the same time, so that a kill meets groups of several.
  static let workerBatches = 4
  /// Most operations in one batch.
  static let workerBatch = 8

  /// Works on a ledger with full flush until it is killed, and tells every recorded answer on standard output as one
  /// line, `seq account key outcome`, written only once the answer was given.
  /// - Throws: ``LedgerUnavailable`` when the ledger fails; the caller ends the process with a status other than 0.
  public static func worker(path: String, seed: UInt64) async throws {
    let store = try SQLiteLedgerStore.open(path: path, options: .init(flush: .full), createIfMissing: true)
    var random = SeededGenerator(seed: seed)
    // Names of one worker never meet those of another on the same file.
    var maker = OperationMaker(random: random.fork(), prefix: "w\(String(seed, radix: 36))-")
    let node = NodeID(unchecked: "worker")
    let epoch = try await store.registerNode(node, at: wallClock()).epoch
    _ = try await store.recover(node, at: wallClock())
    maker.gateways = [OperationMaker.Gateway(id: node, epoch: epoch, isBeating: true)]
    var waiting = try maker.opening(at: wallClock())
    while true {
      var batches: [[LedgerOperation]] = []
      for _ in 0..<1 + random.index(workerBatches) {
        while waiting.count < 1 + random.index(workerBatch) { waiting.append(try maker.next(at: wallClock())) }
        batches.append(waiting)
        waiting = []
      }
      let answered = try await withThrowingTaskGroup(of: [(LedgerOperation, LedgerReceipt)].self) { group in
        for batch in batches {
          group.addTask {
            let results = await store.perform(batch)
            let receipts = try results.map { try $0.get() }
            try acknowledge(batch, receipts)
            return Array(zip(batch, receipts))
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      for (operation, receipt) in answered { maker.note(operation, receipt.outcome) }
    }
  }

  private static func wallClock() -> Instant {
    Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
  }

  /// One write a line: a line is in the pipe whole or not at all (POSIX write, at most PIPE_BUF bytes).
  private static func acknowledge(_ batch: [LedgerOperation], _ receipts: [LedgerReceipt]) throws {
    for (operation, receipt) in zip(batch, receipts) where receipt.seq > 0 {
      let line = Acknowledgement(
        seq: receipt.seq, account: operation.account.text, key: operation.key, outcome: receipt.outcome.text)
      var text = line.text + "\n"
      try text.withUTF8 { bytes in
        while write(STDOUT_FILENO, bytes.baseAddress, bytes.count) < 0 {
          // A worker whose parent is gone has nobody to work for.
          guard errno == EINTR else { throw Failure(description: "standard output is closed") }
        }
      }
    }
  }
}
