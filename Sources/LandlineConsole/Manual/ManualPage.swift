import CallModel
import Foundation

/// The manual page of one command (section 1).
struct ManualPage {
  /// `landline-calls-show`: the page's file is named so.
  let name: String
  let text: String

  /// - Parameters:
  ///   - words: The words that name the command, `calls show`.
  ///   - program: The program's name.
  init(_ command: CommandOutline, words: [String], of program: String, date: String) {
    let name = ([program] + words).joined(separator: "-")
    self.name = name
    var page = ManualText(name: name, section: 1, abstract: command.abstract ?? name, date: date)
    let shown = (command.arguments ?? []).filter { argument in
      argument.shouldDisplay
        && !(argument.kind == "flag" && (argument.names ?? []).contains { ["help", "version"].contains($0.name) })
    }
    page.heading("SYNOPSIS")
    page.macro("Nm \(([program] + words).joined(separator: " "))")
    if command.children.isEmpty {
      for argument in shown where argument.kind != "positional" { page.macro(ManualPage.synopsis(argument)) }
      for argument in shown where argument.kind == "positional" { page.macro(ManualPage.synopsis(argument)) }
    } else {
      page.macro("Ar command")
    }
    page.heading("DESCRIPTION")
    page.sentences(command.abstract ?? "")
    ManualPage.paragraphs(command, of: program, &page)
    ManualPage.commands(command, &page)
    ManualPage.arguments(shown, &page)
    if words.isEmpty { ManualPage.environment(&page) }
    page.heading("EXIT STATUS")
    page.sentences(ManualPage.exits)
    let examples = command.examples(of: program)
    if !examples.isEmpty {
      page.heading("EXAMPLES")
      for example in examples { page.literal(example) }
    }
    page.heading("SEE ALSO")
    let related =
      words.isEmpty
      ? command.children.map { "\(program)-\($0.commandName)" }
        + [ConsoleEnvironment.usualProgram].filter { $0 != program }
      : [program] + (words.count > 1 ? [([program] + words.dropLast()).joined(separator: "-")] : [])
        + command.children.map { "\(name)-\($0.commandName)" }
    let pages = Set(related).sorted().map { "Xr \($0) 1" } + (words.isEmpty ? ["Xr landline.yaml 5"] : [])
    for (index, reference) in pages.enumerated() {
      page.macro(reference + (index + 1 < pages.count ? " ," : ""))
    }
    text = page.text
  }

  private static func synopsis(_ argument: CommandOutline.Argument) -> String {
    let value = argument.valueName.map { "Ar \(ManualText.words($0))" } ?? "Ar value"
    let name = argument.names.map { names in (names.first { $0.kind == "long" } ?? names[0]).text }
    let plain: String
    switch argument.kind {
    case "positional": plain = value
    case "flag": plain = "Fl \((name ?? "").dropFirst())"
    default: plain = "Fl \((name ?? "").dropFirst()) \(value)"
    }
    return (argument.isOptional ? "Op " : "") + plain + (argument.isRepeating ? " ..." : "")
  }

  /// The discussion without the lines that are examples.
  private static func paragraphs(_ command: CommandOutline, of program: String, _ page: inout ManualText) {
    let lines = (command.discussion ?? "").split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    for paragraph in lines.split(whereSeparator: \.isEmpty) {
      let text = paragraph.filter { !$0.hasPrefix(program + " ") }
      // The root's own lists of examples, statuses and variables have sections of their own here.
      guard !text.isEmpty, !text[0].allSatisfy({ $0.isUppercase || $0 == " " }) else { continue }
      page.macro("Pp")
      page.sentences(text.joined(separator: " "))
    }
  }

  private static func commands(_ command: CommandOutline, _ page: inout ManualText) {
    guard !command.children.isEmpty else { return }
    page.macro("Pp")
    page.sentences("The commands are:")
    page.macro("Bl -tag -width Ds")
    for child in command.children {
      page.macro("It Cm \(ManualText.words(child.commandName))")
      page.sentences(child.abstract ?? "")
    }
    page.macro("El")
  }

  private static func arguments(_ arguments: [CommandOutline.Argument], _ page: inout ManualText) {
    guard !arguments.isEmpty else { return }
    page.macro("Pp")
    page.sentences("The arguments and options are:")
    page.macro("Bl -tag -width Ds")
    let order = arguments.filter { $0.kind == "positional" } + arguments.filter { $0.kind != "positional" }
    for argument in order {
      let value = argument.valueName.map { " Ar \(ManualText.words($0))" } ?? ""
      if argument.kind == "positional" {
        page.macro("It\(value)")
      } else {
        let names = (argument.names ?? []).map { "Fl \($0.text.dropFirst())" }.joined(separator: " , ")
        page.macro("It \(names)\(argument.kind == "flag" ? "" : value)")
      }
      let fallback = argument.defaultValue.map { " The default is \($0.isEmpty ? "an empty text" : $0)." } ?? ""
      let text = argument.abstract ?? "The \((argument.valueName ?? "value").replacing("-", with: " "))."
      page.sentences(text + (text.hasSuffix(".") ? "" : ".") + fallback)
    }
    page.macro("El")
  }

  private static let exits = """
    0 ok, 1 internal fault, 2 usage, 3 not found, 4 refused, 5 conflict, 6 books broken, 7 database unavailable, \
    8 not permitted, 9 configuration broken, 10 call failed, 11 gateway not reachable, 12 timed out, 130 interrupted, \
    141 nobody reads the output any more.
    """

  private static func environment(_ page: inout ManualText) {
    page.heading("ENVIRONMENT")
    page.macro("Bl -tag -width Ds")
    for (name, meaning) in variables {
      page.macro("It Ev \(name)")
      page.sentences(meaning)
    }
    page.macro("El")
  }

  private static let variables = [
    ("LANDLINE_DATABASE", "The ledger's file."), ("LANDLINE_CONFIG", "The configuration."),
    ("LANDLINE_CONTROL", "The control socket of a running gateway."),
    ("LANDLINE_URL", "The gateway that landline call and landline answer use."),
    ("LANDLINE_APPLICATION_KEY", "The application that landline call and landline answer use."),
    ("LANDLINE_APPLICATION_SECRET_FILE", "The file with its secret."),
    (
      "LANDLINE_AUTHORITY",
      "A PEM file of the authorities that landline call and landline answer trust over wss, in place of the system's."
    ),
    ("LANDLINE_NOW", "A time (RFC 3339) in place of the clock, for tests."),
    ("NO_COLOR , PAGER", "As everywhere."),
  ]
}
