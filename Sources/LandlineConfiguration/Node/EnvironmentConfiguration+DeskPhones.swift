internal import CallModel
internal import Foundation
internal import SIPCore

extension EnvironmentConfiguration {
  /// Telephones that register here. Applications are known by then, and so is how long ids of users may be.
  mutating func readDeskPhones(_ section: ConfigurationSection, folder: URL) {
    for entry in section.named("desk-phones", atMost: DeskPhone.maximumPhones) {
      guard let row = deskPhone(entry.name, reading: entry.section, folder: folder) else { continue }
      if deskPhones.contains(where: { $0.name == row.name }) {
        entry.section.addProblem("stands here more than once", at: nil)
      } else {
        deskPhones.append(row)
      }
    }
  }

  private func deskPhone(_ text: String, reading section: ConfigurationSection, folder: URL) -> DeskPhone? {
    defer { section.finish() }
    var name: String?
    do throws(InvalidValue) {
      name = try DeskPhone.name(text)
    } catch {
      section.addProblem("\(error.problem); accepted: \(error.accepted)", at: nil, fix: error.accepted)
    }
    let application = namedApplication(section)
    if application == nil, !section.has("application") {
      section.addProblem(
        applications.isEmpty
          ? "the environment has no application that its user could belong to"
          : "'application' does not say whose user it is", at: nil,
        fix: applications.isEmpty ? nil : "application: \(applications[0].name)")
    }
    _ = section.requiredText("user")
    let rules = (try? UserID.Rules(maximumLength: usersMaximumLength)) ?? .standard
    let user = section.value("user") { try UserID($0, rules: rules) }
    let country = section.number("country", in: 1...999).flatMap { code -> Int? in
      do throws(InvalidValue) {
        return try DeskPhone.country(code)
      } catch {
        section.addProblem("country", "\(error.problem); accepted: \(error.accepted)", fix: error.accepted)
        return nil
      }
    }
    let password = EnvironmentConfiguration.password(section, folder: folder)
    guard let name, let application, let user, let password else { return nil }
    do throws(InvalidValue) {
      return DeskPhone(
        name: name, application: application.key, user: user, country: country,
        keys: try PhoneKeys(password: password, name: name))
    } catch {
      section.addProblem("\(error.problem); accepted: \(error.accepted)", at: nil)
      return nil
    }
  }

  /// The password, inline or from a file; what is wrong never repeats it.
  private static func password(_ section: ConfigurationSection, folder: URL) -> Redacted<String>? {
    let (inline, file) = (section.text("password"), section.text("password-file"))
    guard (inline == nil) != (file == nil) else {
      section.addProblem("one of 'password' and 'password-file' is needed", at: nil)
      return nil
    }
    let key = inline == nil ? "password-file" : "password"
    if inline != nil {
      section.warn("password", "stands in the file itself; a 'password-file' can be kept from others and changed alone")
    }
    guard let text = inline ?? file.flatMap({ section.secret("password-file", $0, folder: folder) }) else { return nil }
    do throws(InvalidValue) {
      return try DeskPhone.password(text)
    } catch {
      section.addProblem(key, "\(error.problem); accepted: \(error.accepted)", fix: error.accepted)
      return nil
    }
  }
}
