import CallModel
import Foundation

extension Console {
  /// One manual page on standard output.
  package func manual(_ words: [String], _ outline: CommandOutline) throws -> Answer {
    let (named, command) = outline.named(words)
    guard named == words else {
      throw ConsoleError(
        .notFound, code: "manual.command", "there is no such command", at: words.joined(separator: " "),
        fix: "\(outline.commandName) --help")
    }
    try TextStream.standardOutput.write(
      ManualPage(command, words: words, of: outline.commandName, date: try today()).text)
    return .streamed(notes: [])
  }

  /// Every manual page as a file.
  /// - Parameter configuration: the file whose comments become landline.yaml(5); `nil`: no such page.
  package func manuals(_ outline: CommandOutline, in folder: String, configuration: String?) throws -> Answer {
    let date = try today()
    var pages = outline.all().map { words, command in
      let page = ManualPage(command, words: words, of: outline.commandName, date: date)
      return (name: "\(page.name).1", text: page.text)
    }
    if let configuration {
      pages.append(("landline.yaml.5", try ConfigurationPage(path: configuration, date: date).text))
    }
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for page in pages {
        try Data(page.text.utf8).write(to: URL(fileURLWithPath: folder).appendingPathComponent(page.name))
      }
    } catch {
      throw ConsoleError(
        .notPermitted, code: "output", "the pages cannot be written: \(error.localizedDescription)", at: folder,
        fix: "--output-dir DIR in a folder of yours")
    }
    return Answer("pages", Listing([Column("page")], rows: pages.map { [.text($0.name)] }))
  }

  /// Whether each command has an example, and the parser takes all of them.
  /// - Parameter parse: throws where the words behind the program's name are no command line.
  package func manualExamples(_ outline: CommandOutline, parse: ([String]) throws -> Void) throws -> Answer {
    var rows: [[Cell]] = []
    var faults: [String] = []
    for (words, command) in outline.leaves {
      let examples = command.examples(of: outline.commandName)
      let name = ([outline.commandName] + words).joined(separator: " ")
      if !examples.contains(where: { $0 == name || $0.hasPrefix(name + " ") }) {
        faults.append("\(name) has no example")
      }
      for example in examples {
        rows.append([.text(name), .text(example)])
        do { try parse(Console.words(example)) } catch { faults.append("\(example): \(error)") }
      }
    }
    guard faults.isEmpty else {
      var failure = ConsoleError(.failed, code: "manual.examples", "examples are missing or cannot be parsed")
      failure.details = faults
      throw failure
    }
    return Answer("examples", Listing([Column("command"), Column("example")], rows: rows))
  }

  /// The words behind the program's name as a shell hands them over; single and double quotes group.
  private static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in line {
      if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if quote == nil, character == " " {
        if let word { words.append(word) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return Array(words.dropFirst())
  }
}
