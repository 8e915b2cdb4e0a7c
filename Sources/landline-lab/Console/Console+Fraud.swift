import CallEngine
import CallModel
import LandlineConfiguration
import LandlineConsole
import SimulationKit

/// What `landline-lab simulate fraud` was asked.
struct FraudOptions: Sendable {
  var seed: UInt64 = 1
  var calls = FraudDrill.defaultCalls
  /// As if the account might call every country.
  var anyCountry = false
  /// A configuration whose rules are tried; `nil` for those that hold without one.
  var configuration: String?
  /// One of its environments; `nil` for the first.
  var environment: String?

  init() {}
}

extension Console {
  /// Lets a stolen key dial for an hour of virtual time, and holds the loss against what the rules state.
  func fraudDrill(_ options: FraudOptions) throws -> Answer {
    guard FraudDrill.callsAccepted.contains(options.calls) else {
      throw ConsoleError.usage(
        "calls.range", "calls: \(options.calls) is out of range", at: "--calls",
        fix: "\(FraudDrill.callsAccepted.lowerBound) to \(FraudDrill.callsAccepted.upperBound)")
    }
    var drill = FraudDrill(calls: options.calls)
    if let path = options.configuration {
      let environments = try readConfiguration(path).environments
      guard
        let environment = environments.first(where: { options.environment == nil || $0.name == options.environment })
      else {
        throw ConsoleError.usage(
          "environment.unknown", "environment: there is no \"\(options.environment ?? "")\" in \(path)",
          at: "--environment", fix: environments.map(\.name).joined(separator: ", "))
      }
      drill.countries = environment.countries
      drill.velocity = environment.velocity
    } else if options.environment != nil {
      throw ConsoleError.usage(
        "environment.configuration", "an environment of no configuration", at: "--environment", fix: "--config FILE")
    }
    if options.anyCountry { drill.countries = .any }
    let report: FraudReport
    do throws(GatewayViolation) {
      report = try drill.run(seed: options.seed)
    } catch {
      throw ConsoleError(.failed, code: "simulation", error.description, at: error.replay)
    }
    guard let bound = report.boundMicro else {
      throw ConsoleError(
        .refused, code: "fraud.unbounded",
        "the account lost \(Console.amount(report.lossMicro)) and nothing bounds it: no rule limits what it may spend",
        at: "velocity", fix: "a rule 'of: account, to: any' with a 'spend' that refuses or locks")
    }
    guard report.isWithinBound else {
      throw ConsoleError(
        .failed, code: "fraud.passed",
        "the account lost \(Console.amount(report.lossMicro)), \(Console.amount(report.foreignLossMicro)) of it abroad; "
          + "stated are \(Console.amount(bound)) and \(report.foreignBoundMicro.map(Console.amount) ?? "nothing")",
        at: "velocity")
    }
    return Console.answer(report, rules: drill.velocity.map { "\($0.consequence.rawValue): \($0.text)" })
  }

  private static func amount(_ micro: MicroUnits) -> String { micro.brief }

  private static func answer(_ report: FraudReport, rules: [String]) -> Answer {
    let refusals = report.refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    var answer = Answer(
      record: Listing(
        [
          Column("asked_for", title: "calls asked for", .number), Column("answered", .number),
          Column("countries", title: "countries reached", .number), Column("loss"),
          Column("bound", title: "loss that is stated"), Column("foreign_loss", title: "loss abroad"),
          Column("foreign_bound", title: "stated abroad"), Column("locked", title: "locked because"),
          Column("locked_after", title: "seconds until then", .number), Column("refusals"), Column("seed"),
        ],
        rows: [
          [
            .integer(Int64(report.calls)), .integer(Int64(report.answered)), .integer(Int64(report.countries.count)),
            .text(amount(report.lossMicro)), .text(optional: report.boundMicro.map(amount)),
            .text(amount(report.foreignLossMicro)), .text(optional: report.foreignBoundMicro.map(amount)),
            .text(optional: report.lockReason), .integer(optional: report.lockedAfterMilliseconds.map { $0 / 1000 }),
            .list(refusals.map { "\($0.key):\($0.value)" }), .text(String(report.seed)),
          ]
        ]))
    answer.notes = rules
    return answer
  }
}
