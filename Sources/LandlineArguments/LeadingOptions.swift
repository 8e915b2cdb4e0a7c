/// `landline --json balance`: options common to all commands may stand before the command too.
enum LeadingOptions {
  private static let flags: Set<String> = ["--json", "--ndjson", "--csv", "--human"]
  private static let valued: Set<String> = [
    "--database", "--control", "--state", "--config", "--environment", "--output", "-o", "--color", "--tz",
  ]

  /// The same arguments with such options behind the command, where the parser knows them.
  static func moved(_ arguments: [String]) -> [String] {
    var leading: [String] = []
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      let name = argument.prefix { $0 != "=" }
      if flags.contains(argument) || (valued.contains(String(name)) && name.count < argument.count) {
        leading.append(argument)
        index += 1
      } else if valued.contains(argument), index + 1 < arguments.count {
        leading += arguments[index...index + 1]
        index += 2
      } else {
        break
      }
    }
    guard !leading.isEmpty, index < arguments.count else { return arguments }
    var rest = Array(arguments[index...])
    // Behind a terminator everything is an operand.
    rest.insert(contentsOf: leading, at: rest.firstIndex(of: "--") ?? rest.count)
    return rest
  }
}
