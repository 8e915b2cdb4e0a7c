package import ArgumentParser
package import LandlineConsole

/// How a command shows what it answers.
package struct OutputOptions: ParsableArguments {
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: "table, json, csv or ndjson.",
    completion: .list(ConsoleSettings.Format.allCases.map(\.rawValue)))
  var output: String?

  @Flag(name: .customLong("json"), help: "One JSON object.")
  var json = false

  @Flag(name: .customLong("ndjson"), help: "One JSON object a line.")
  var ndjson = false

  @Flag(name: .customLong("csv"), help: "Comma-separated values (RFC 4180).")
  var csv = false

  @Flag(name: .customLong("human"), help: "Round amounts in tables to the decimals of their currency.")
  var human = false

  @Option(
    name: .customLong("color"), help: "auto, always or never.",
    completion: .list(ConsoleSettings.Color.allCases.map(\.rawValue)))
  var color: String?

  @Option(name: .customLong("tz"), help: "Time zone of times and dates, such as Europe/Stockholm (default: UTC).")
  var timeZone: String?

  package init() {}

  package func settings(_ places: Finder.Flags = Finder.Flags()) throws -> ConsoleSettings {
    var formats: Set<ConsoleSettings.Format> = []
    if json { formats.insert(.json) }
    if ndjson { formats.insert(.ndjson) }
    if csv { formats.insert(.csv) }
    if let output {
      guard let format = ConsoleSettings.Format(rawValue: output) else {
        throw ValidationError("\"\(output)\" is no output format; accepted: table, json, csv or ndjson")
      }
      formats.insert(format)
    }
    guard formats.count <= 1 else { throw ValidationError("only one output format can be chosen") }
    var chosen = ConsoleSettings.Color.auto
    if let color {
      guard let named = ConsoleSettings.Color(rawValue: color) else {
        throw ValidationError("\"\(color)\" is no color setting; accepted: auto, always or never")
      }
      chosen = named
    }
    return ConsoleSettings(
      places: places, format: formats.first ?? .table, isHuman: human, color: chosen, timeZone: timeZone)
  }

  /// Runs one command of the console and ends with its status.
  package func console(_ body: (Console) async throws -> Answer) async throws {
    try await run(try settings(), body)
  }

  func run(_ settings: ConsoleSettings, _ body: (Console) async throws -> Answer) async throws {
    let status = await Console(settings: settings, environment: .process()).run(body)
    if status != .ok { throw ExitCode(status.rawValue) }
  }
}

/// Which gateway, where several run or none is found. Without these: a variable of the environment, the gateway that this
/// user runs, the configuration.
package struct GatewayOptions: ParsableArguments {
  @Option(help: "The gateway's control socket (LANDLINE_CONTROL).", completion: .file())
  package var control: String?

  @Option(help: "The gateway's state folder (LANDLINE_STATE).", completion: .directory)
  var state: String?

  @Option(
    name: .customLong("config"), help: "The gateway's configuration (LANDLINE_CONFIG).",
    completion: .file(extensions: ["yaml", "yml"]))
  var configuration: String?

  @Option(help: "The environment, where there are several.")
  package var environment: String?

  package init() {}

  package var places: Finder.Flags {
    var places = Finder.Flags()
    places.control = control
    places.state = state
    places.configuration = configuration
    places.environment = environment
    return places
  }
}

/// Options that every command has which asks a gateway or a ledger.
package struct CommonOptions: ParsableArguments {
  @Option(
    name: .customLong("database"),
    help: "The ledger's file (default: LANDLINE_DATABASE, that of the gateway, or the state directory).",
    completion: .file())
  var database: String?

  @OptionGroup(title: "Gateway")
  package var gateway: GatewayOptions

  @OptionGroup(title: "Output")
  var output: OutputOptions

  package init() {}

  package func settings() throws -> ConsoleSettings {
    var places = gateway.places
    places.database = database
    return try output.settings(places)
  }

  /// Runs one command of the console and ends with its status.
  package func console(_ body: (Console) async throws -> Answer) async throws {
    try await output.run(try settings(), body)
  }
}

/// Completion of account names from the ledger itself.
package enum AccountCompletion {
  package static let names = CompletionKind.custom { arguments, _, _ in
    Console(settings: .completing(arguments), environment: .process()).accountNames()
  }
}

extension ConsoleSettings {
  /// Those of a command line that is not finished: what it says of places, and no word on standard error.
  package static func completing(_ arguments: [String]) -> ConsoleSettings {
    var settings = ConsoleSettings()
    settings.saysWhatIsFound = false
    for (option, value) in zip(arguments, arguments.dropFirst()) {
      switch option {
      case "--database": settings.places.database = value
      case "--control": settings.places.control = value
      case "--state": settings.places.state = value
      case "--config": settings.places.configuration = value
      case "--environment": settings.places.environment = value
      default: break
      }
    }
    return settings
  }
}
