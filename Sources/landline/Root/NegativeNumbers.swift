/// `landline adjust acme -5`: a negative amount looks like an option to the parser, so it is handed over as one.
enum NegativeNumbers {
  private static let command = "adjust"
  private static let option = "--amount"
  /// Options of the command whose value is the next word, whatever it looks like.
  private static let valued: Set<String> = [
    option, "--reason", "--key", "--database", "--control", "--state", "--config", "--environment", "--tz", "--color",
    "--output", "-o",
  ]

  static func marked(_ arguments: [String]) -> [String] {
    guard arguments.first(where: { !$0.hasPrefix("-") }) == command else { return arguments }
    var marked: [String] = []
    for argument in arguments {
      let isNumber =
        argument.hasPrefix("-")
        && argument.utf8.dropFirst().first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
      let isValue = marked.last.map { valued.contains($0) } ?? false
      marked.append(isNumber && !isValue ? "\(option)=\(argument)" : argument)
    }
    return marked
  }
}
