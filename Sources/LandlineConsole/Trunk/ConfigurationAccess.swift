import CallModel
import Foundation
package import LandlineConfiguration
import RoutingCore

/// Reading the configuration: the only place that knows what it is read with.
extension Console {
  /// - Throws: ``ConsoleError`` with all problems of the file.
  package func readConfiguration(
    _ path: String, _ overrides: ConfigurationOverrides = ConfigurationOverrides()
  ) throws -> GatewayConfiguration {
    do throws(ConfigurationProblems) {
      return try GatewayConfiguration(path: path, overrides: overrides)
    } catch {
      let count = error.all.count == 1 ? "a problem" : "\(error.all.count) problems"
      var failure = ConsoleError(
        .configurationBroken, code: "configuration", "the configuration has \(count)", at: path)
      if error.all.count == 1, let problem = error.all.first, problem.line == nil, problem.file == path {
        failure.what = "the configuration \(problem.problem)"
        failure.fix = problem.fix
        if access(path, F_OK) != 0 { failure.fix = "--config FILE, LANDLINE_CONFIG, or a file at \(path)" }
      } else {
        failure.details = error.all.map(\.description)
        failure.setFixes(error.all.compactMap { Console.fix($0) })
      }
      if failure.fix == nil { failure.fix = "edit \(path), then landline serve --check --config \(path)" }
      throw failure
    }
  }

  /// `line 12: write 'transport'`.
  private static func fix(_ problem: ConfigurationProblem) -> String? {
    problem.fix.map { fix in problem.line.map { "line \($0): \(fix)" } ?? fix }
  }

  /// Names of the configuration's trunks, for completion.
  package func trunkNames() -> [String] {
    (try? GatewayConfiguration(path: configurationPath()))?.trunks.map(\.trunk.name) ?? []
  }

  func trunk(_ name: String, in configuration: GatewayConfiguration, _ path: String) throws -> TrunkConfiguration {
    if let trunk = configuration.trunk(name) { return trunk }
    let nearest = Spelling.nearest(to: name, among: configuration.trunks.map(\.trunk.name))
    throw ConsoleError(
      .notFound, code: "unknownTrunk", "no trunk has that name", at: "\(TrunkText.clean(name)) in \(path)",
      fix: nearest.map { "did you mean \($0)?" } ?? "landline trunk list; or a URI such as sip:sip.example.com")
  }
}
