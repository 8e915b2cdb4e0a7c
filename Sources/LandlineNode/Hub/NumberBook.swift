package import CallEngine
package import CallModel
package import Logging
package import NodeCore
import Synchronization

/// The number tables of all environments: rows of the configuration, and beside them those that operators made. One change
/// at a time reaches the stores, and calls go by the tables in the order of the changes.
package final class NumberBook: Sendable {
  /// `store` is `nil` where there are no numbers but those of the configuration.
  package typealias Environment = (name: String, store: (any InboundNumberStore)?)
  private typealias Rows = [E164Number: InboundNumber]

  private struct State {
    var configured: [String: Rows] = [:]
    var made: [String: Rows] = [:]
    /// Done when the change before is.
    var last: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let stores: [String: any InboundNumberStore]
  private let names: [String]
  private let log: Logger
  private let tell: @Sendable (_ environment: String, _ rows: [InboundNumber]) -> Void

  private init(
    _ state: State, _ environments: [Environment], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [InboundNumber]) -> Void
  ) {
    self.state = Mutex(state)
    names = environments.map(\.name)
    stores = Dictionary(
      environments.compactMap { environment in environment.store.map { (environment.name, $0) } },
      uniquingKeysWith: { first, _ in first })
    self.log = log
    self.tell = tell
  }

  /// Reads what operators made.
  /// - Parameter tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  package static func open(
    _ environments: [Environment], configured: [String: [InboundNumber]], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [InboundNumber]) -> Void
  ) async throws -> NumberBook {
    var state = State()
    state.configured = configured.mapValues(NumberBook.byNumber)
    for environment in environments {
      guard let store = environment.store else { continue }
      state.made[environment.name] = NumberBook.byNumber(try await store.numbers(environment: environment.name))
    }
    return NumberBook(state, environments, log: log, tell: tell)
  }

  private static func byNumber(_ rows: [InboundNumber]) -> Rows {
    Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Tells every table.
  package func publish() {
    state.withLock { state in
      for name in names { tell(name, NumberBook.table(name, state).map(\.row)) }
    }
  }

  /// Takes over what the configuration says now.
  package func configure(_ configured: [String: [InboundNumber]]) async {
    _ = try? await inTurn {
      self.state.withLock { $0.configured = configured.mapValues(NumberBook.byNumber) }
      self.publish()
      return RowChange.replaced
    }
  }

  /// Ascending by number.
  package func rows(_ environment: String) -> [(row: InboundNumber, isConfigured: Bool)] {
    state.withLock { NumberBook.table(environment, $0) }
  }

  /// A number that stands in any configuration is nobody's to make, so it hides a row that was made before.
  private static func table(_ environment: String, _ state: State) -> [(row: InboundNumber, isConfigured: Bool)] {
    let configured = state.configured[environment] ?? [:]
    let all = state.configured.values
    let made = (state.made[environment] ?? [:]).values.filter { row in !all.contains { $0[row.number] != nil } }
    return (configured.values.map { ($0, true) } + made.map { ($0, false) })
      .sorted { $0.row.number.value < $1.row.number.value }
  }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ row: InboundNumber, environment: String, by actor: String) async throws -> RowChange {
    try await change(row.number, environment) { store, wasThere in
      try await store.keep(row, environment: environment)
      self.state.withLock { $0.made[environment, default: [:]][row.number] = row }
      self.log.notice(
        wasThere ? "a number was changed" : "a number was made", metadata: self.metadata(row, environment, actor))
      return wasThere ? .replaced : .made
    }
  }

  /// - Throws: what the store threw.
  package func remove(_ number: E164Number, environment: String, by actor: String) async throws -> RowChange {
    try await change(number, environment) { store, _ in
      guard try await store.remove(number, environment: environment) else { return .unknown }
      self.state.withLock { $0.made[environment]?[number] = nil }
      self.log.notice(
        "a number was removed",
        metadata: ["number": "\(number)", "environment": "\(environment)", "actor": "\(actor)"])
      return .removed
    }
  }

  private func metadata(_ row: InboundNumber, _ environment: String, _ actor: String) -> Logger.Metadata {
    let targets = row.targets.map { "\($0.destination.kind.rawValue) \($0.destination.text)" }
    return [
      "number": "\(row.number)", "environment": "\(environment)", "actor": "\(actor)", "account": "\(row.account)",
      "active": "\(row.isActive)", "targets": "\(targets.joined(separator: ", "))",
    ]
  }

  /// Does `body` unless the number is somebody else's.
  private func change(
    _ number: E164Number, _ environment: String,
    _ body: @escaping @Sendable (_ store: any InboundNumberStore, _ wasThere: Bool) async throws -> RowChange
  ) async throws -> RowChange {
    guard let store = stores[environment] else { return .unknown }
    return try await inTurn {
      let (configured, owner) = self.state.withLock { state in
        (
          self.names.first { state.configured[$0]?[number] != nil },
          self.names.first { state.made[$0]?[number] != nil }
        )
      }
      if let configured { return .configured(environment: configured) }
      if let owner, owner != environment { return .taken(environment: owner) }
      let change = try await body(store, owner != nil)
      self.state.withLock { self.tell(environment, NumberBook.table(environment, $0).map(\.row)) }
      return change
    }
  }

  /// Begins when the change before has ended.
  private func inTurn(
    _ body: @escaping @Sendable () async throws -> RowChange
  ) async throws -> RowChange {
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
