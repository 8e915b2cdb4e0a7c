public import CallModel
import Foundation
public import LedgerCore

/// What a gateway keeps on its own disk while the ledger cannot be reached: answers and ends of calls, in order, each
/// flushed before ``append(_:)`` returns. Replayed with the same keys, so a record that did reach the ledger changes
/// nothing. The money is safe meanwhile: the holds are still there.
///
/// One line of JSON a record. A line that a crash cut short was never acknowledged and is dropped.
public actor LedgerSpool {
  /// Records that may wait: more is an outage that an operator must end.
  public static let maximumRecords = 100_000
  /// Milliseconds of age at which the oldest record is worth an alarm.
  public static let alarmAge: Int64 = 60_000

  /// Why the spool cannot be opened, added to or replayed.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation would promise credit that nobody has reserved.
    case notSpoolable
    case full
    case inputOutput(String)
    /// A whole line cannot be read; nothing was replayed.
    case unreadable(line: Int, String)

    /// What is wrong and, for a full spool, what to do.
    public var description: String {
      switch self {
      case .notSpoolable: "only answers and ends of calls may wait in a spool"
      case .full: "the spool holds \(LedgerSpool.maximumRecords) records; bring the ledger back"
      case .inputOutput(let problem): problem
      case .unreadable(let line, let problem): "line \(line) of the spool cannot be read: \(problem)"
      }
    }
  }

  /// What a replay came to.
  public struct Replay: Hashable, Sendable {
    /// Records that the ledger has answered.
    public var answered = 0
    /// Those among them that it refused, with the reason: an operator should look at each.
    public var refused: [Refused] = []

    /// A call whose answer or end the ledger did not take.
    public struct Refused: Hashable, Sendable {
      public var call: CallID
      /// The ledger's own reason.
      public var refusal: LedgerRefusal

      public init(call: CallID, refusal: LedgerRefusal) {
        self.call = call
        self.refusal = refusal
      }
    }
  }

  private let path: String
  private var descriptor: Int32
  private var records: [SpoolRecord]
  /// The last of ``records``, which are not on disk: it took none.
  private var unwritten = 0
  private var isReplaying = false
  private let flush: @Sendable (Int32) -> Int32

  /// Opens the spool of a node, with what an earlier life left in it.
  /// - Throws: ``Failure``.
  public init(path: String) throws { try self.init(path: path, flush: { fdatasync($0) }) }

  /// - Parameter flush: brings a file to the disk, 0 when it could: for tests of a disk that fails.
  package init(path: String, flush: @escaping @Sendable (Int32) -> Int32) throws {
    self.path = path
    self.flush = flush
    descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw LedgerSpool.failure("open", path) }
    do {
      records = try LedgerSpool.read(path, descriptor)
    } catch {
      Foundation.close(descriptor)
      throw error
    }
  }

  deinit { if descriptor >= 0 { Foundation.close(descriptor) } }

  /// Closes the file; what it holds is there for the node's next life. Nothing can be kept afterwards.
  public func close() {
    guard descriptor >= 0 else { return }
    Foundation.close(descriptor)
    descriptor = -1
  }

  /// Records that the ledger has not answered, those included that the disk did not take.
  public var count: Int { records.count }

  /// When the oldest record was made; alarm when it is older than ``alarmAge``.
  public var oldest: Instant? { records.first.map { Instant(milliseconds: $0.at) } }

  /// Keeps an answer or an end of a call; on disk when this returns.
  /// - Throws: ``Failure``. After ``Failure/inputOutput(_:)`` the operation is kept in memory all the same: the ledger gets
  ///   it when it is back, and the disk with the next one that it takes.
  public func append(_ operation: LedgerOperation) throws {
    guard let record = SpoolRecord(operation) else { throw Failure.notSpoolable }
    guard records.count < LedgerSpool.maximumRecords else { throw Failure.full }
    let encoder = JSONEncoder()
    var lines = Data()
    for each in records.suffix(unwritten) + [record] {
      lines.append(try encoder.encode(each))
      lines.append(UInt8(ascii: "\n"))
    }
    records.append(record)
    unwritten += 1
    try write(lines)
    unwritten = 0
  }

  /// Sends every record to the ledger, in order, and forgets those that it has answered.
  /// - Throws: ``LedgerUnavailable`` when the ledger is away again: the rest stays. ``Failure`` when the disk fails.
  public func replay(into store: any LedgerStore) async throws -> Replay {
    var replay = Replay()
    // Another replay is under way in this actor and will answer every record.
    guard !isReplaying else { return replay }
    isReplaying = true
    defer { isReplaying = false }
    while let record = records.first {
      let operation: LedgerOperation
      do { operation = try record.operation() } catch { throw Failure.unreadable(line: 1, error.description) }
      let receipt = try await store.perform(operation)
      replay.answered += 1
      if let refusal = receipt.refusal {
        replay.refused.append(Replay.Refused(call: CallID(unchecked: record.call), refusal: refusal))
      }
      // An append may have come while the ledger was asked; the first record is still the one that was sent.
      records.removeFirst()
      unwritten = min(unwritten, records.count)
    }
    try forgetAll()
    return replay
  }

  // MARK: The file

  /// All of it, or nothing: what a full disk took of it is taken away again, or it would spoil the next line.
  private func write(_ data: Data) throws {
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { throw LedgerSpool.failure("seek in", path) }
    do {
      try writeAll(data)
    } catch {
      guard ftruncate(descriptor, end) == 0 else { throw LedgerSpool.failure("truncate", path) }
      throw error
    }
  }

  private func writeAll(_ data: Data) throws {
    var offset = 0
    while offset < data.count {
      let written = data.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress?.advanced(by: offset), data.count - offset)
      }
      guard written >= 0 else {
        if errno == EINTR { continue }
        throw LedgerSpool.failure("write", path)
      }
      offset += written
    }
    guard flush(descriptor) == 0 else { throw LedgerSpool.failure("flush", path) }
  }

  private func forgetAll() throws {
    guard records.isEmpty else { return }
    guard ftruncate(descriptor, 0) == 0, flush(descriptor) == 0 else { throw LedgerSpool.failure("truncate", path) }
  }

  private static func read(_ path: String, _ descriptor: Int32) throws -> [SpoolRecord] {
    // Foundation loses the memory that it takes to read an empty file.
    guard lseek(descriptor, 0, SEEK_END) != 0 else { return [] }
    guard let data = FileManager.default.contents(atPath: path) else { throw failure("read", path) }
    let end = data.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    if end < data.count {
      // The torn line must go before the next append, or it would spoil that one too.
      guard ftruncate(descriptor, off_t(end)) == 0 else { throw failure("truncate", path) }
    }
    var records: [SpoolRecord] = []
    for (index, line) in data[..<end].split(separator: UInt8(ascii: "\n")).enumerated() {
      do {
        records.append(try JSONDecoder().decode(SpoolRecord.self, from: line))
      } catch {
        throw Failure.unreadable(line: index + 1, "\(error)")
      }
    }
    return records
  }

  private static func failure(_ action: String, _ path: String) -> Failure {
    .inputOutput("\(path): \(action) failed: \(String(cString: strerror(errno)))")
  }
}
