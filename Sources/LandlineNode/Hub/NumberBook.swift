package import CallEngine
package import CallModel
package import Logging
package import NodeCore

/// The number tables of all environments.
package typealias NumberBook = RowBook<InboundNumber, E164Number>

extension NumberBook {
  /// Reads what operators made.
  /// - Parameters:
  ///   - environments: `store` is `nil` where there are no numbers but those of the configuration.
  ///   - tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  package convenience init(
    _ environments: [(name: String, store: (any InboundNumberStore)?)], configured: [String: [InboundNumber]],
    log: Logger, tell: @escaping @Sendable (_ environment: String, _ rows: [InboundNumber]) -> Void
  ) async throws {
    let stores = environments.map { name, store in
      let made = store.map { store in
        Store(
          read: { try await store.numbers(environment: name) }, keep: { try await store.keep($0, environment: name) },
          remove: { try await store.remove($0, environment: name) })
      }
      return (name, made)
    }
    try await self.init(
      stores, configured: configured, key: \.number, words: ("a number", "number"), log: log, tell: tell)
  }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ row: InboundNumber, environment: String, by actor: String) async throws -> RowChange {
    let targets = row.targets.map { "\($0.destination.kind.rawValue) \($0.destination.text)" }
    let more: Logger.Metadata = [
      "account": "\(row.account)", "active": "\(row.isActive)", "targets": "\(targets.joined(separator: ", "))",
    ]
    return try await set(row.number, environment: environment, by: actor, more) { _ in row }
  }
}
