/// One thing wrong with a configuration file, and where.
public struct ConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// As it was named.
  public let file: String
  /// From 1; `nil` when the whole file is at fault.
  public let line: Int?
  /// From 1, in Unicode scalars.
  public let column: Int?
  /// What is wrong, and what would be accepted.
  public let problem: String
  /// What to write or to do instead; `nil` where only the operator can know.
  public let fix: String?

  /// - Parameters:
  ///   - line: From 1; `nil` for the whole file, and then `column` is not told either.
  ///   - column: From 1, in Unicode scalars.
  public init(file: String, line: Int?, column: Int?, problem: String, fix: String? = nil) {
    self.file = file
    self.line = line
    self.column = column
    self.problem = problem
    self.fix = fix
  }

  /// `landline.yaml:12:5 unknown key 'tranport' (did you mean 'transport'?)`
  public var description: String {
    let place = line.map { ":\($0)" } ?? ""
    return "\(file)\(place)\(line == nil ? "" : column.map { ":\($0)" } ?? "") \(problem)"
  }
}

/// Everything wrong with a configuration file, in the order of the file: one run names all of it.
public struct ConfigurationProblems: Error, Sendable, CustomStringConvertible {
  /// Most problems that are named.
  public static let maximum = 50

  /// At least one.
  public let all: [ConfigurationProblem]

  /// - Parameter all: At least one, in the order of the file.
  public init(_ all: [ConfigurationProblem]) { self.all = all }

  /// One line for each problem, without its ``ConfigurationProblem/fix``.
  public var description: String { all.map(\.description).joined(separator: "\n") }
}
