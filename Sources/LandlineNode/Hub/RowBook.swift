import Logging
package import NodeCore
import Synchronization

/// Rows of all environments that are known by a key: those of the configuration, and beside them those that operators made.
/// One change at a time reaches the stores, and the tables are told in the order of the changes.
package final class RowBook<Row: Sendable, Key: Hashable & Comparable & Sendable>: Sendable {
  /// Where an environment keeps what operators make.
  struct Store: Sendable {
    let read: @Sendable () async throws -> [Row]
    let keep: @Sendable (Row) async throws -> Void
    /// - Returns: Whether it was there.
    let remove: @Sendable (Key) async throws -> Bool
  }

  private typealias Rows = [Key: Row]

  private struct State {
    var configured: [String: Rows] = [:]
    var made: [String: Rows] = [:]
    /// Done when the change before is.
    var last: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let stores: [String: Store]
  private let names: [String]
  private let key: @Sendable (Row) -> Key
  private let words: (noun: String, label: String)
  private let log: Logger
  private let tell: @Sendable (_ environment: String, _ rows: [Row]) -> Void

  /// Reads what operators made.
  /// - Parameters:
  ///   - environments: `store` is `nil` where there are no rows but those of the configuration.
  ///   - key: what a row is known by; no two of all environments have the same.
  ///   - words: what the log calls a row (`a number`), and the member with its key (`number`).
  ///   - tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  init(
    _ environments: [(name: String, store: Store?)], configured: [String: [Row]], key: @escaping @Sendable (Row) -> Key,
    words: (noun: String, label: String), log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [Row]) -> Void
  ) async throws {
    var state = State()
    state.configured = configured.mapValues { RowBook.byKey($0, key) }
    var stores: [String: Store] = [:]
    for (name, store) in environments {
      guard let store else { continue }
      stores[name] = store
      state.made[name] = RowBook.byKey(try await store.read(), key)
    }
    self.state = Mutex(state)
    self.stores = stores
    names = environments.map(\.name)
    self.key = key
    self.words = words
    self.log = log
    self.tell = tell
  }

  private static func byKey(_ rows: [Row], _ key: (Row) -> Key) -> Rows {
    Dictionary(rows.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Tells every table.
  package func publish() {
    state.withLock { state in
      for name in names { tell(name, table(name, state).map(\.row)) }
    }
  }

  /// Takes over what the configuration says now.
  package func configure(_ configured: [String: [Row]]) async {
    _ = try? await inTurn {
      self.state.withLock { $0.configured = configured.mapValues { RowBook.byKey($0, self.key) } }
      self.publish()
      return RowChange.replaced
    }
  }

  /// Ascending by key.
  package func rows(_ environment: String) -> [(row: Row, isConfigured: Bool)] {
    state.withLock { table(environment, $0) }
  }

  /// A key that stands in any configuration is nobody's to make, so it hides a row that was made before.
  private func table(_ environment: String, _ state: State) -> [(row: Row, isConfigured: Bool)] {
    let configured = state.configured[environment] ?? [:]
    let all = state.configured.values
    let made = (state.made[environment] ?? [:]).filter { made in !all.contains { $0[made.key] != nil } }
    return (configured.values.map { ($0, true) } + made.values.map { ($0, false) })
      .sorted { key($0.row) < key($1.row) }
  }

  /// Makes a row or puts another in its place, unless the key is somebody else's.
  /// - Parameters:
  ///   - more: what the log says of the new row beside its key.
  ///   - row: the new row, by the one that operators made before.
  /// - Throws: what `row` or the store threw.
  func set(
    _ key: Key, environment: String, by actor: String, _ more: Logger.Metadata,
    _ row: @escaping @Sendable (_ former: Row?) throws -> Row
  ) async throws -> RowChange {
    try await change(key, environment) { store, former in
      let row = try row(former)
      try await store.keep(row)
      self.state.withLock { $0.made[environment, default: [:]][key] = row }
      self.logChange(former == nil ? "made" : "changed", key, environment, actor, more)
      return former == nil ? .made : .replaced
    }
  }

  /// - Throws: what the store threw.
  package func remove(_ key: Key, environment: String, by actor: String) async throws -> RowChange {
    try await change(key, environment) { store, _ in
      guard try await store.remove(key) else { return .unknown }
      self.state.withLock { $0.made[environment]?[key] = nil }
      self.logChange("removed", key, environment, actor)
      return .removed
    }
  }

  private func logChange(
    _ verb: String, _ key: Key, _ environment: String, _ actor: String, _ more: Logger.Metadata = [:]
  ) {
    let metadata: Logger.Metadata = [
      words.label: "\(key)", "environment": "\(environment)", "actor": "\(actor)",
    ]
    log.notice("\(words.noun) was \(verb)", metadata: metadata.merging(more) { $1 })
  }

  /// Does `body` unless the key is somebody else's.
  private func change(
    _ key: Key, _ environment: String, _ body: @escaping @Sendable (Store, _ former: Row?) async throws -> RowChange
  ) async throws -> RowChange {
    guard let store = stores[environment] else { return .unknown }
    return try await inTurn {
      let (configured, owner, former) = self.state.withLock { state in
        (
          self.names.first { state.configured[$0]?[key] != nil }, self.names.first { state.made[$0]?[key] != nil },
          state.made[environment]?[key]
        )
      }
      if let configured { return .configured(environment: configured) }
      if let owner, owner != environment { return .taken(environment: owner) }
      let change = try await body(store, former)
      self.state.withLock { self.tell(environment, self.table(environment, $0).map(\.row)) }
      return change
    }
  }

  /// Begins when the change before has ended.
  private func inTurn(_ body: @escaping @Sendable () async throws -> RowChange) async throws -> RowChange {
    let task = state.withLock { state in
      let before = state.last
      let task = Task {
        await before?.value
        return try await body()
      }
      state.last = Task { _ = await task.result }
      return task
    }
    return try await task.value
  }
}
