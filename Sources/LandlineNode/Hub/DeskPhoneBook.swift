package import CallEngine
package import CallModel
package import Logging
package import NodeCore
import SIPCore

/// The desk phones of all environments, and what the log says of their changes.
package final class DeskPhoneBook: Sendable {
  /// `store` is `nil` where there are no desk phones but those of the configuration.
  package typealias Environment = (name: String, store: (any DeskPhoneStore)?)

  private let book: RowBook<DeskPhone, String>
  private let log: Logger

  /// Reads what operators made.
  /// - Parameter tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  package init(
    _ environments: [Environment], configured: [String: [DeskPhone]], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [DeskPhone]) -> Void
  ) async throws {
    self.log = log
    book = try await RowBook(
      environments.map { name, store in
        (
          name,
          store.map { store in
            .init(
              read: { try await store.deskPhones(environment: name) },
              keep: { try await store.keep($0, environment: name) },
              remove: { try await store.removeDeskPhone($0, environment: name) })
          }
        )
      }, configured: configured, key: \.name, tell: tell)
  }

  /// Tells every table.
  package func publish() { book.publish() }

  /// Takes over what the configuration says now.
  package func configure(_ configured: [String: [DeskPhone]]) async { await book.configure(configured) }

  /// Ascending by name.
  package func rows(_ environment: String) -> [(row: DeskPhone, isConfigured: Bool)] { book.rows(environment) }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ order: DeskPhoneOrder, environment: String, by actor: String) async throws -> RowChange {
    _ = try DeskPhone.name(order.name)
    let change = try await book.set(order.name, environment: environment) { former in
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
      return DeskPhone(
        name: order.name, application: order.application, user: order.user, country: order.country, keys: keys)
    }
    log.changed(
      "a desk phone", change, in: environment, by: actor, ["phone": "\(order.name)", "user": "\(order.user)"])
    return change
  }

  /// - Throws: what the store threw.
  package func remove(_ name: String, environment: String, by actor: String) async throws -> RowChange {
    let change = try await book.remove(name, environment: environment)
    log.changed("a desk phone", change, in: environment, by: actor, ["phone": "\(name)"])
    return change
  }
}
