public import CallModel

/// Where the records of calls are kept. A record that was accepted is durable.
public protocol CallRecordStore: Sendable {
  /// Keeps a record; one with the same id is replaced. The caller does not wait: the store works on a thread of its own.
  /// - Parameter completion: called once, on any thread; `nil`: the record is kept.
  func submit(_ record: CallRecord, _ completion: @escaping @Sendable ((any Error)?) -> Void)
  /// Adds what an app measured to a record that may be kept already. The caller does not wait.
  /// - Parameter completion: called once, on any thread; `nil`: the figures are kept.
  func submit(
    _ statistics: [String: Double], to call: CallID, _ completion: @escaping @Sendable ((any Error)?) -> Void)
  func record(_ call: CallID) async throws -> CallRecord?
  /// Newest first.
  func records(_ query: CallRecordQuery) async throws -> CallRecordPage
  /// Deletes records of calls that ended before `instant`.
  /// - Returns: how many.
  func prune(before instant: Instant) async throws -> Int
  /// Deletes what apps measured of calls that ended before `instant`; the records stay.
  /// - Returns: of how many calls.
  func dropStatistics(before instant: Instant) async throws -> Int
}

/// Which records, and from where on.
public struct CallRecordQuery: Hashable, Sendable {
  /// Most records of one page.
  public static let maximumLimit = 1000
  /// Records of this account alone; `nil` for all accounts.
  public var account: AccountName?
  /// `[from, to)` of the calls' start.
  public var from: Instant?
  /// First moment that is no longer included; `nil` for no end.
  public var to: Instant?
  /// Text of a destination, or the beginning of one.
  public var destination: String?
  /// `nil` for calls that ended in any way.
  public var cause: CallEndCause?
  /// Most records of the page, 1 to ``maximumLimit``.
  public var limit: Int
  /// Of the page before.
  public var cursor: String?

  /// Brings `limit` into 1 to ``maximumLimit``; the other conditions are open until they are set.
  public init(account: AccountName? = nil, limit: Int = 50, cursor: String? = nil) {
    self.account = account
    self.limit = min(max(limit, 1), CallRecordQuery.maximumLimit)
    self.cursor = cursor
  }
}

/// One page of an answer to ``CallRecordQuery``.
public struct CallRecordPage: Hashable, Sendable {
  /// Newest first.
  public var records: [CallRecord]
  /// `nil` at the end.
  public var next: String?

  public init(records: [CallRecord], next: String?) {
    self.records = records
    self.next = next
  }
}

/// Where the traces of calls are kept: bytes that only whoever wrote them understands.
public protocol CallTraceStore: Sendable {
  /// Keeps a trace; one of the same call is replaced. The caller does not wait.
  /// - Parameters:
  ///   - trace: asked for the bytes on the store's own thread.
  ///   - completion: called once, on any thread; `nil`: the trace is kept.
  func submit(
    _ trace: @escaping @Sendable () -> [UInt8], of call: CallID, at: Instant,
    _ completion: @escaping @Sendable ((any Error)?) -> Void)
  func trace(of call: CallID) async throws -> [UInt8]?
  /// Deletes traces that were kept before `instant`.
  /// - Returns: how many.
  func dropTraces(before instant: Instant) async throws -> Int
}

extension CallRecordStore {
  /// Keeps a record, and returns when it is kept.
  public func keep(_ record: CallRecord) async throws { try await outcome { submit(record, $0) } }

  /// Adds what an app measured, and returns when it is kept.
  public func add(_ statistics: [String: Double], to call: CallID) async throws {
    try await outcome { submit(statistics, to: call, $0) }
  }
}

extension CallTraceStore {
  /// Keeps a trace, and returns when it is kept.
  public func keep(trace: [UInt8], of call: CallID, at: Instant) async throws {
    try await outcome { submit({ trace }, of: call, at: at, $0) }
  }
}

/// Waits for what is submitted.
private func outcome(of submit: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async throws {
  let error = await withCheckedContinuation { continuation in submit { continuation.resume(returning: $0) } }
  if let error { throw error }
}
