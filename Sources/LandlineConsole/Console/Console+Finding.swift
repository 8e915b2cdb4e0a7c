import CallEngine
import CallModel
import Foundation
import LandlineConfiguration
import LandlineServer
import Synchronization

/// What one run of a command has found, so that it is looked for and told once.
final class FoundPlaces: Sendable {
  struct State {
    var gateways: [GatewayPointer]?
    var ledger: String?
    /// What was said already.
    var told: Set<String> = []
  }

  let state = Mutex(State())
}

/// Where everything is: the only place of the console that asks variables, running gateways and configurations for it.
extension Console {
  /// `$XDG_STATE_HOME`, else `~/.local/state`.
  var stateFolder: String { environment.value("XDG_STATE_HOME") ?? "\(environment.value("HOME") ?? ".")/.local/state" }

  var runningGateways: RunningGateways { RunningGateways(stateFolder: stateFolder) }

  /// - Parameter change: adds what the command line of one command says.
  func finder(_ change: (inout Finder.Flags) -> Void = { _ in }) -> Finder {
    var flags = settings.places
    change(&flags)
    let (environment, state) = (environment, flags.state)
    return Finder(
      flags: flags, variables: environment.variables, gateways: gateways(),
      settingsFolder: environment.value("XDG_CONFIG_HOME") ?? "\(environment.value("HOME") ?? ".")/.config",
      stateFolder: stateFolder, workingFolder: FileManager.default.currentDirectoryPath,
      exists: { FileManager.default.fileExists(atPath: $0) },
      configured: { path in
        guard access(path, R_OK) == 0 else { return .missing }
        let overrides = ConfigurationOverrides(
          flags: state.map { [.state: $0] } ?? [:], environment: environment.variables)
        guard let read = try? GatewayConfiguration(path: path, overrides: overrides) else { return .broken }
        return .places(GatewayPlaces(read, path: path))
      })
  }

  private func gateways() -> [GatewayPointer] {
    if let known = found.state.withLock({ $0.gateways }) { return known }
    let (running, notes) = runningGateways.read()
    found.state.withLock { $0.gateways = running }
    for text in notes { announce("note", text) }
    return running
  }

  /// Says something on standard error, once in a run.
  private func announce(_ name: String, _ text: String) {
    guard settings.saysWhatIsFound, found.state.withLock({ $0.told.insert("\(name) \(text)").inserted }) else { return }
    // A closed standard error leaves nothing to be done.
    try? remark(name, text)
  }

  /// Says where a place was found, where that is worth a line.
  func announce(_ name: String, _ place: Found<String>, in finder: Finder, of gateway: (GatewayPlaces) -> [String]) {
    if let text = finder.remark(name, place, ofGateway: gateway) { announce(name, text) }
  }

  // MARK: Places

  /// The ledger's file.
  /// - Throws: ``ConsoleError`` where several could be meant.
  package func databasePath() throws -> String {
    if let known = found.state.withLock({ $0.ledger }) { return known }
    let finder = finder()
    let ledger = try finding { () throws(FinderProblem) in try finder.ledger() }
    announce("ledger", ledger, in: finder) { $0.environments.map(\.ledger) }
    found.state.withLock { $0.ledger = ledger.value }
    return ledger.value
  }

  /// What is booked at once where a command names no amount; `nil` where no environment says it.
  func largestAmount() throws -> MicroUnits? {
    try ledgerEnvironment()?.largestAmountMicros
  }

  /// What an account without a list of its own may call by the configuration; `nil` for every country, and where no
  /// environment says it.
  func defaultCountries(of account: String) throws -> [Int]? {
    try ledgerEnvironment().flatMap { $0.countries ?? $0.accountCountries?[account] }
  }

  private func ledgerEnvironment() throws -> GatewayPlaces.Environment? {
    let finder = finder()
    return try finding { () throws(FinderProblem) in try finder.environment() }
  }

  /// The ledger's file, where it was looked for: for failures.
  var knownDatabasePath: String { found.state.withLock { $0.ledger } ?? "" }

  /// The control socket of the gateway to ask.
  func controlPath(_ option: String?) -> String {
    let finder = finder { if let option { $0.control = option } }
    let control = finder.control
    announce("gateway", control, in: finder) { [$0.control] }
    return control.value
  }

  /// The configuration's file.
  /// - Parameter isOfGateway: whether a running gateway says which; not for a command that starts one.
  func configurationPath(_ option: String? = nil, isOfGateway: Bool = true) -> String {
    let finder = finder { if let option { $0.configuration = option } }
    let configuration = finder.configuration(isOfGateway: isOfGateway)
    if isOfGateway { announce("configuration", configuration, in: finder) { [$0.configuration] } }
    return configuration.value
  }

  /// Runs the finder; what it cannot decide is a failure of the command line.
  func finding<Value>(_ body: () throws(FinderProblem) -> Value) throws -> Value {
    do throws(FinderProblem) { return try body() } catch {
      switch error {
      case .environments(let names, let owner):
        throw ConsoleError.usage(
          "environment.several", "several environments could be meant: \(names.joined(separator: ", "))", at: owner,
          fix: "--environment \(names.first ?? "NAME")")
      case .unknownEnvironment(let name, let known, let owner):
        throw ConsoleError(
          .notFound, code: "unknownEnvironment", "there is no environment \"\(CallFailure.shortened(name))\"",
          at: owner,
          fix: known.isEmpty ? nil : "--environment \(known.joined(separator: " or "))")
      case .applications(let applications, let owner):
        let names = applications.map { "\($0.key) (\($0.name) in \($0.environment))" }
        throw ConsoleError.usage(
          "key.several", "several applications could be meant: \(names.joined(separator: ", "))", at: owner,
          fix: "--application-key KEY, or --environment NAME")
      case .configuration(let path):
        throw ConsoleError(
          .configurationBroken, code: "configuration", "the configuration that would say it cannot be used", at: path,
          fix: "landline serve --check --config \(path) names its problems")
      }
    }
  }
}

extension GatewayPlaces {
  /// What a configuration says of a gateway that runs with it.
  /// - Parameters:
  ///   - port: The port of the app door, where it is known already.
  ///   - farEnd: The built-in far end's URI.
  init(_ configuration: GatewayConfiguration, path: String, port: UInt16? = nil, farEnd: String? = nil) {
    self.init(
      url: GatewayPlaces.url(configuration.http, port: port), state: configuration.state,
      control: RunningGateway.controlSocket(configuration),
      configuration: URL(fileURLWithPath: path).standardized.path,
      environments: configuration.environments.map { environment in
        var place = Environment(
          name: environment.name, ledger: environment.ledger, largestAmountMicros: environment.largestAmountMicros)
        switch environment.countries {
        case .any: break
        case .listed(let countries): place.countries = countries
        case .ofCallerNumbers:
          place.accountCountries = Dictionary(
            uniqueKeysWithValues: environment.callerCountries.map { ($0.key.text, $0.value) })
        }
        return place
      },
      applications: configuration.environments.flatMap { environment in
        environment.applications.map {
          Application(
            name: $0.name, key: $0.key, environment: environment.name, account: $0.account.text,
            secretFile: $0.secretFile)
        }
      }, farEnd: farEnd)
  }

  /// Where this machine reaches the door; with TLS under the name that its certificate is for, where it is known.
  private static func url(_ http: HTTPConfiguration, port: UInt16?) -> String? {
    let port = port ?? http.port
    guard port != 0 else { return nil }
    let address: SIPHost =
      switch http.host {
      case .ipv4(0): .ipv4(0x7F00_0001)
      case .ipv6(high: 0, low: 0): .ipv6(high: 0, low: 1)
      default: http.host
      }
    guard http.tls != nil else { return "ws://\(address):\(port)" }
    return "wss://\(http.advertisedHost ?? address):\(port)"
  }
}
