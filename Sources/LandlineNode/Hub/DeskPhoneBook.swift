package import CallEngine
package import CallModel
package import Logging
package import NodeCore
import SIPCore
import Synchronization

/// The desk phones of all environments: rows of the configuration, and beside them those that operators made. One change at a
/// time reaches the stores, and telephones register by the tables in the order of the changes.
package final class DeskPhoneBook: Sendable {
  /// `store` is `nil` where there are no desk phones but those of the configuration.
  package typealias Environment = (name: String, store: (any DeskPhoneStore)?)
  private typealias Rows = [String: DeskPhone]

  private struct State {
    var configured: [String: Rows] = [:]
    var made: [String: Rows] = [:]
    /// Done when the change before is.
    var last: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let stores: [String: any DeskPhoneStore]
  private let names: [String]
  private let log: Logger
  private let tell: @Sendable (_ environment: String, _ rows: [DeskPhone]) -> Void

  private init(
    _ state: State, _ environments: [Environment], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [DeskPhone]) -> Void
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
    _ environments: [Environment], configured: [String: [DeskPhone]], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [DeskPhone]) -> Void
  ) async throws -> DeskPhoneBook {
    var state = State()
    state.configured = configured.mapValues(DeskPhoneBook.byName)
    for environment in environments {
      guard let store = environment.store else { continue }
      state.made[environment.name] = DeskPhoneBook.byName(try await store.deskPhones(environment: environment.name))
    }
    return DeskPhoneBook(state, environments, log: log, tell: tell)
  }

  private static func byName(_ rows: [DeskPhone]) -> Rows {
    Dictionary(rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Tells every table.
  package func publish() {
    state.withLock { state in
      for name in names { tell(name, DeskPhoneBook.table(name, state).map(\.row)) }
    }
  }

  /// Takes over what the configuration says now.
  package func configure(_ configured: [String: [DeskPhone]]) async {
    _ = try? await inTurn {
      self.state.withLock { $0.configured = configured.mapValues(DeskPhoneBook.byName) }
      self.publish()
      return RowChange.replaced
    }
  }

  /// Ascending by name.
  package func rows(_ environment: String) -> [(row: DeskPhone, isConfigured: Bool)] {
    state.withLock { DeskPhoneBook.table(environment, $0) }
  }

  /// A name that stands in any configuration is nobody's to make, so it hides a row that was made before.
  private static func table(_ environment: String, _ state: State) -> [(row: DeskPhone, isConfigured: Bool)] {
    let configured = state.configured[environment] ?? [:]
    let all = state.configured.values
    let made = (state.made[environment] ?? [:]).values.filter { row in !all.contains { $0[row.name] != nil } }
    return (configured.values.map { ($0, true) } + made.map { ($0, false) }).sorted { $0.row.name < $1.row.name }
  }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ order: DeskPhoneOrder, environment: String, by actor: String) async throws -> RowChange {
    _ = try DeskPhone.name(order.name)
    return try await change(order.name, environment) { store, former in
      let keys: PhoneKeys
      if let password = order.password {
        keys = try PhoneKeys(password: password, name: order.name)
      } else if let former {
        keys = former.keys
      } else {
        throw InvalidValue(
          kind: "desk phone", rule: "phone.password", offset: nil, problem: "it is new, and has no password",
          accepted: "a password")
      }
      let row = DeskPhone(
        name: order.name, application: order.application, user: order.user, country: order.country, keys: keys)
      try await store.keep(row, environment: environment)
      self.state.withLock { $0.made[environment, default: [:]][row.name] = row }
      self.log.notice(
        former == nil ? "a desk phone was made" : "a desk phone was changed",
        metadata: [
          "phone": "\(row.name)", "environment": "\(environment)", "actor": "\(actor)", "user": "\(row.user)",
        ])
      return former == nil ? .made : .replaced
    }
  }

  /// - Throws: what the store threw.
  package func remove(_ name: String, environment: String, by actor: String) async throws -> RowChange {
    try await change(name, environment) { store, _ in
      guard try await store.removeDeskPhone(name, environment: environment) else { return .unknown }
      self.state.withLock { $0.made[environment]?[name] = nil }
      self.log.notice(
        "a desk phone was removed",
        metadata: ["phone": "\(name)", "environment": "\(environment)", "actor": "\(actor)"])
      return .removed
    }
  }

  /// Does `body` unless the name is somebody else's.
  private func change(
    _ name: String, _ environment: String,
    _ body: @escaping @Sendable (_ store: any DeskPhoneStore, _ former: DeskPhone?) async throws -> RowChange
  ) async throws -> RowChange {
    guard let store = stores[environment] else { return .unknown }
    return try await inTurn {
      let (configured, owner, former) = self.state.withLock { state in
        (
          self.names.first { state.configured[$0]?[name] != nil }, self.names.first { state.made[$0]?[name] != nil },
          state.made[environment]?[name]
        )
      }
      if let configured { return .configured(environment: configured) }
      if let owner, owner != environment { return .taken(environment: owner) }
      let change = try await body(store, former)
      self.state.withLock { self.tell(environment, DeskPhoneBook.table(environment, $0).map(\.row)) }
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
