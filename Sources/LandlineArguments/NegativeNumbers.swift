import ArgumentParser
import LandlineConsole

/// `landline adjust acme -5`: a negative number looks like an option to the parser.
package enum NegativeNumbers {
  private static let command = "adjust"
  private static let option = "--amount"

  /// The arguments with each negative number where the parser takes it for one: behind `=` where an option wants a value,
  /// in an option where the command has an amount that may be negative.
  static func marked(_ arguments: [String], of root: any ParsableCommand.Type) -> [String] {
    guard arguments.contains(where: isNumber), let outline = CommandOutline(of: root) else { return arguments }
    let words = arguments.prefix { !$0.hasPrefix("-") }
    let named = outline.named(Array(words)).command
    let valued = Set((named.arguments ?? []).filter { $0.kind == "option" }.flatMap { $0.names ?? [] }.map(\.text))
    var marked: [String] = []
    for (index, argument) in arguments.enumerated() {
      if argument == "--" {
        marked += arguments[index...]
        break
      }
      if isNumber(argument), let last = marked.last, valued.contains(last) {
        marked[marked.count - 1] = "\(last)=\(argument)"
      } else {
        marked.append(isNumber(argument) && words.first == command ? "\(option)=\(argument)" : argument)
      }
    }
    return marked
  }

  /// `-5`, `-0.25`.
  package static func isNumber(_ argument: String) -> Bool {
    let digits = argument.dropFirst()
    return argument.hasPrefix("-") && digits.first?.isWholeNumber == true
      && digits.allSatisfy { $0.isASCII && ($0.isWholeNumber || $0 == ".") }
  }
}
