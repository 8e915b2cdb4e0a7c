public import CallModel

/// Where the records of calls are kept. A record that was accepted is durable.
public protocol CallRecordStore: Sendable {
  /// Keeps a record; one with the same id is replaced.
  func keep(_ record: CallRecord) async throws
  /// Adds what an app measured to a record that may be kept already.
  func add(_ statistics: [String: Double], to call: CallID) async throws
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
  public static let maximumLimit = 1000
  public var account: AccountName?
  /// `[from, to)` of the calls' start.
  public var from: Instant?
  public var to: Instant?
  /// Text of a destination, or the beginning of one.
  public var destination: String?
  public var cause: CallEndCause?
  public var limit: Int
  /// Of the page before.
  public var cursor: String?

  public init(account: AccountName? = nil, limit: Int = 50, cursor: String? = nil) {
    self.account = account
    self.limit = min(max(limit, 1), CallRecordQuery.maximumLimit)
    self.cursor = cursor
  }
}

public struct CallRecordPage: Hashable, Sendable {
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
  /// Keeps a trace; one of the same call is replaced.
  func keep(trace: [UInt8], of call: CallID, at: Instant) async throws
  func trace(of call: CallID) async throws -> [UInt8]?
  /// Deletes traces that were kept before `instant`.
  /// - Returns: how many.
  func dropTraces(before instant: Instant) async throws -> Int
}
