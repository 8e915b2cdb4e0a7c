public import CallEngine
public import CallModel
import Foundation
import LandlineSQLite
import LedgerCore

extension SQLiteGatewayStore: DeskPhoneStore {
  /// Ascending by name.
  /// - Throws: ``LedgerUnavailable``; `corrupt` for a row that no version could have written.
  public func deskPhones(environment: String) async throws -> [DeskPhone] {
    try await readNewest { connection in
      let statement = try connection.statement(
        "SELECT name, document FROM desk_phone WHERE environment = $1 ORDER BY name LIMIT $2"
      ).bind(1, environment).bind(2, Int64(DeskPhone.maximumPhones))
      defer { statement.reset() }
      var rows: [DeskPhone] = []
      while try statement.step() {
        let name = statement.text(0)
        do {
          let document = try JSONDecoder().decode(DeskPhoneDocument.self, from: Data(statement.text(1).utf8))
          rows.append(try document.row(name))
        } catch {
          throw LedgerUnavailable(.corrupt, "the row of the desk phone \(name) cannot be read: \(error)")
        }
      }
      return rows
    }
  }

  /// Replaces the row of the same name.
  public func keep(_ phone: DeskPhone, environment: String) async throws {
    _ = try DeskPhone.name(phone.name)
    try SQLiteGatewayStore.check(environment, kind: "environment")
    try SQLiteGatewayStore.check(phone.application, kind: "application key")
    let document = DeskPhoneDocument(phone).text
    try await change { connection in
      let count = try connection.statement("SELECT count(*) FROM desk_phone WHERE environment = $1 AND name <> $2")
        .bind(1, environment).bind(2, phone.name)
      defer { count.reset() }
      guard try count.step(), count.int64(0) < Int64(DeskPhone.maximumPhones) else {
        throw InvalidValue(
          kind: "desk phone", rule: "phone.table", offset: nil, problem: "the environment has no room for more",
          accepted: "at most \(DeskPhone.maximumPhones) desk phones of an environment")
      }
      try connection.statement(
        """
        INSERT INTO desk_phone(environment, name, document) VALUES($1, $2, $3)
        ON CONFLICT(environment, name) DO UPDATE SET document = excluded.document
        """
      ).bind(1, environment).bind(2, phone.name).bind(3, document).run()
    }
  }

  /// - Returns: `false` where there is no such row.
  public func removeDeskPhone(_ name: String, environment: String) async throws -> Bool {
    try await change { connection in
      try connection.statement("DELETE FROM desk_phone WHERE environment = $1 AND name = $2")
        .bind(1, environment).bind(2, name).run()
      return connection.changes == 1
    }
  }
}

/// A row as it is kept: JSON that later versions may add to.
struct DeskPhoneDocument: Decodable {
  var application: String
  var user: String
  var country: Int?
  var sha256: String
  var md5: String

  init(_ row: DeskPhone) {
    application = row.application
    user = row.user.text
    country = row.country
    sha256 = row.keys.sha256.exposed
    md5 = row.keys.md5.exposed
  }

  func row(_ name: String) throws -> DeskPhone {
    DeskPhone(
      name: try DeskPhone.name(name), application: application,
      user: try UserID(user, rules: try UserID.Rules(maximumLength: UserID.Rules.largestMaximumLength)),
      country: country, keys: PhoneKeys(sha256: Redacted(sha256), md5: Redacted(md5)))
  }

  /// JSON with the names of the properties; what has no value is left out.
  var text: String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("application", application)
      writer.member("user", user)
      writer.optional("country", country)
      writer.member("sha256", sha256)
      writer.member("md5", md5)
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
