import CallModel
import Foundation

/// Telephones that register with the gateway: a running one is asked for them.
extension Console {
  /// Most pages of desk phones that are asked for.
  private static let maximumDeskPhonePages = DeskPhone.maximumPhones / 1000 + 1

  package func deskPhoneList(control: String?, environment name: String?) async throws -> Answer {
    let client = ControlClient(path: controlPath(control))
    var rows: [JSONObject] = []
    var cursor: String?
    for _ in 0..<Console.maximumDeskPhonePages {
      let page = try object(
        await client.get("/v1/desk-phones" + query(["environment": name, "limit": "1000", "cursor": cursor])), control)
      rows += page["desk_phones"]?.elements.compactMap(\.objectValue) ?? []
      cursor = page["next"]?.text
      if cursor == nil { break }
    }
    let columns = [
      Column("name"), Column("user"), Column("application"), Column("account"), Column("country", .number),
      Column("registered"), Column("configured_at", title: "configured", for: .machines),
    ]
    let listing = Listing(
      columns,
      rows: rows.map { row in
        [
          .text(optional: row["name"]?.text), .text(optional: row["user"]?.text),
          .text(optional: row["application"]?.text), .text(optional: row["account"]?.text),
          .integer(optional: row["country"]?.text.flatMap { Int64($0) }),
          .text(Console.registrations(row).map(\.address).joined(separator: ", ")),
          .text(optional: row["configured_at"]?.text),
        ]
      })
    var answer = Answer("desk_phones", listing)
    answer.members = [("desk_phones", .array(rows.map { .object($0) }))]
    return answer
  }

  package func deskPhoneShow(_ text: String, control: String?, environment name: String?) async throws -> Answer {
    let response = try await ControlClient(path: controlPath(control)).get(try target(text, name))
    guard (200..<300).contains(response.status) else { throw deskPhoneFailure(response, control) }
    return Console.deskPhone(try object(response, control))
  }

  /// Makes a desk phone or changes what is named of it.
  package func deskPhoneSet(
    _ options: DeskPhoneOptions, control: String?, environment name: String?
  ) async throws -> Answer {
    let target = try target(options.name, name)
    let client = ControlClient(path: controlPath(control))
    let before = try await client.get(target)
    var known: JSONObject?
    if before.status != 404 { known = try object(before, control) }
    guard known != nil || options.user != nil else {
      throw ConsoleError.usage(
        "desk-phone.user", "\(options.name) is new, and nothing says whose device it is", at: "NAME", fix: "--user NAME"
      )
    }
    var members: [(String, JSONValue)] = []
    func add(_ name: String, _ value: JSONValue?, known path: String? = nil) {
      if let value = value ?? known?[path ?? name], value != .null { members.append((name, value)) }
    }
    add("user", options.user.map { .string($0) })
    // The key stays good where the name of the application is gone.
    add("application", options.application.map { .string($0) }, known: "application_key")
    if options.country != "none" {
      add("country", try options.country.map { .integer(try Console.country($0)) })
    }
    if let file = options.passwordFile { members.append(("password", .string(try password(file)))) }
    if options.makesPassword { members.append(("new_password", .boolean(true))) }
    let response = try await client.put(target, .members(members))
    guard (200..<300).contains(response.status) else { throw deskPhoneFailure(response, control) }
    return Console.deskPhone(try object(response, control))
  }

  package func deskPhoneRemove(_ text: String, control: String?, environment name: String?) async throws -> Answer {
    let response = try await ControlClient(path: controlPath(control)).delete(try target(text, name))
    guard (200..<300).contains(response.status) else { throw deskPhoneFailure(response, control) }
    return Answer(row: Listing([Column("name"), Column("removed")], rows: [[.text(text), .flag(true)]]))
  }

  private func target(_ text: String, _ environment: String?) throws -> String {
    do throws(InvalidValue) {
      return "/v1/desk-phones/\(try DeskPhone.name(text))" + query(["environment": environment])
    } catch {
      throw ConsoleError.usage(error.rule, error.problem, at: "NAME", fix: error.accepted)
    }
  }

  private static func country(_ text: String) throws -> Int64 {
    guard let code = Int(text.hasPrefix("+") ? String(text.dropFirst()) : text) else {
      throw ConsoleError.usage(
        "phone.country", "no country's calling code", at: "--country", fix: "a code such as 46, or none")
    }
    return Int64(code)
  }

  /// The first line of a file.
  private func password(_ file: String) throws -> String {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8), let line = text.split(separator: "\n").first
    else {
      throw ConsoleError.usage(
        "phone.password", "\(file) cannot be read, or is empty", at: "--password-file",
        fix: "a file whose first line is the password")
    }
    return String(line)
  }

  /// A refusal; of one that stands in the configuration it says in which file.
  private func deskPhoneFailure(_ response: ControlClient.Response, _ control: String?) -> ConsoleError {
    var error = failure(response, control)
    if error.code == "desk-phone.unknown" { error.fix = "landline desk-phone list" }
    if error.code == "desk-phone.configured" {
      error.fix = "change it in \(configurationPath()), then reload the gateway: kill -HUP its process"
    }
    return error
  }

  // MARK: What is shown

  private struct Registration {
    var address: String
    var text: String
  }

  private static func registrations(_ row: JSONObject) -> [Registration] {
    (row["registrations"]?.elements.compactMap(\.objectValue) ?? []).map { registration in
      let agent = registration["user_agent"]?.text ?? ""
      let address = registration["address"]?.text ?? ""
      return Registration(
        address: address,
        text: "\(address), for \(registration["expires_in_seconds"]?.text ?? "0") s"
          + (agent.isEmpty ? "" : ", \(agent)"))
    }
  }

  private static func deskPhone(_ row: JSONObject) -> Answer {
    func text(_ name: String) -> Cell { .text(optional: row[name]?.text) }
    var cells: [(Column, Cell)] = [
      (Column("name"), text("name")), (Column("user"), text("user")), (Column("application"), text("application")),
      (Column("account"), text("account")),
      (Column("country", .number), .integer(optional: row["country"]?.text.flatMap { Int64($0) })),
    ]
    let registrations = registrations(row)
    for (index, registration) in registrations.enumerated() {
      cells.append((Column("registered_\(index + 1)", title: "registered \(index + 1)"), .text(registration.text)))
    }
    if registrations.isEmpty { cells.append((Column("registered_1", title: "registered"), .text("nowhere"))) }
    if row["configured_at"]?.text != nil {
      cells.append((Column("configured_at", title: "configured"), text("configured_at")))
    }
    if row["password"]?.text != nil {
      cells.append((Column("password", title: "password, shown once"), text("password")))
    }
    var answer = Answer(record: Listing(cells.map(\.0), rows: [cells.map(\.1)]))
    answer.members = row.members.map { ($0.name, $0.value) }
    return answer
  }
}

/// What `landline desk-phone set` says. What is `nil` stays as it is, or has its default where the desk phone is new.
package struct DeskPhoneOptions: Sendable {
  package var name: String
  package var user: String?
  package var application: String?
  /// A calling code, or none.
  package var country: String?
  /// Of the file that holds the password.
  package var passwordFile: String?
  /// Whether another password is made.
  package var makesPassword = false

  package init(name: String) { self.name = name }
}
