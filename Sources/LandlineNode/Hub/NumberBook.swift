package import CallEngine
package import CallModel
package import Logging
package import NodeCore

/// The number tables of all environments, and what the log says of their changes.
package final class NumberBook: Sendable {
  /// `store` is `nil` where there are no numbers but those of the configuration.
  package typealias Environment = (name: String, store: (any InboundNumberStore)?)

  private let book: RowBook<InboundNumber, E164Number>
  private let log: Logger

  /// Reads what operators made.
  /// - Parameter tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  package init(
    _ environments: [Environment], configured: [String: [InboundNumber]], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [InboundNumber]) -> Void
  ) async throws {
    self.log = log
    book = try await RowBook(
      environments.map { name, store in
        (
          name,
          store.map { store in
            .init(
              read: { try await store.numbers(environment: name) },
              keep: { try await store.keep($0, environment: name) },
              remove: { try await store.remove($0, environment: name) })
          }
        )
      }, configured: configured, key: \.number, tell: tell)
  }

  /// Tells every table.
  package func publish() { book.publish() }

  /// Takes over what the configuration says now.
  package func configure(_ configured: [String: [InboundNumber]]) async { await book.configure(configured) }

  /// Ascending by number.
  package func rows(_ environment: String) -> [(row: InboundNumber, isConfigured: Bool)] { book.rows(environment) }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ row: InboundNumber, environment: String, by actor: String) async throws -> RowChange {
    let change = try await book.set(row.number, environment: environment) { _ in row }
    let targets = row.targets.map { "\($0.destination.kind.rawValue) \($0.destination.text)" }
    log.changed(
      "a number", change, in: environment, by: actor,
      [
        "number": "\(row.number)", "account": "\(row.account)", "active": "\(row.isActive)",
        "targets": "\(targets.joined(separator: ", "))",
      ])
    return change
  }

  /// - Throws: what the store threw.
  package func remove(_ number: E164Number, environment: String, by actor: String) async throws -> RowChange {
    let change = try await book.remove(number, environment: environment)
    log.changed("a number", change, in: environment, by: actor, ["number": "\(number)"])
    return change
  }
}
