package import CallEngine
package import CallModel
package import Logging
package import NodeCore
import SIPCore

/// The desk phones of all environments.
package typealias DeskPhoneBook = RowBook<DeskPhone, String>

extension DeskPhoneBook {
  /// Reads what operators made.
  /// - Parameters:
  ///   - environments: `store` is `nil` where there are no desk phones but those of the configuration.
  ///   - tell: called with the whole table of an environment, in the order of the changes.
  /// - Throws: what a store threw.
  package convenience init(
    _ environments: [(name: String, store: (any DeskPhoneStore)?)], configured: [String: [DeskPhone]], log: Logger,
    tell: @escaping @Sendable (_ environment: String, _ rows: [DeskPhone]) -> Void
  ) async throws {
    let stores = environments.map { name, store in
      let made = store.map { store in
        Store(
          read: { try await store.deskPhones(environment: name) },
          keep: { try await store.keep($0, environment: name) },
          remove: { try await store.removeDeskPhone($0, environment: name) })
      }
      return (name, made)
    }
    try await self.init(
      stores, configured: configured, key: \.name, words: ("a desk phone", "phone"), log: log, tell: tell)
  }

  /// - Throws: ``InvalidValue``, or what the store threw.
  package func set(_ order: DeskPhoneOrder, environment: String, by actor: String) async throws -> RowChange {
    _ = try DeskPhone.name(order.name)
    return try await set(order.name, environment: environment, by: actor, ["user": "\(order.user)"]) { former in
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
  }
}
