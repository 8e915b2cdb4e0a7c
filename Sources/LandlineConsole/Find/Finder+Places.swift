import Foundation

extension Finder {
  // MARK: Which gateway

  /// The gateway that runs and is meant: the one that a flag names, else the newest.
  package var gateway: GatewayPointer? {
    guard !isNarrowed else { return candidates.first }
    // A variable that names a running gateway chooses it for everything else as well.
    let named = candidates.first { pointer in
      let places = pointer.places
      return [
        ("LANDLINE_CONTROL", places.control), ("LANDLINE_STATE", places.state),
        ("LANDLINE_CONFIG", places.configuration),
      ].contains { name, path in variable(name).map(absolute) == path }
        || places.url.map { $0 == variable("LANDLINE_URL") } ?? false
    }
    return named ?? candidates.first
  }

  /// Whether a flag says which gateway is meant.
  private var isNarrowed: Bool {
    flags.control != nil || flags.state != nil || flags.configuration != nil || flags.url != nil
  }

  /// The gateways that run and that no flag rules out.
  private var candidates: [GatewayPointer] {
    gateways.filter { pointer in
      let places = pointer.places
      func allows(_ flag: String?, _ path: String) -> Bool { flag.map { absolute($0) == path } ?? true }
      return allows(flags.control, places.control) && allows(flags.state, places.state)
        && allows(flags.configuration, places.configuration) && (flags.url.map { $0 == places.url } ?? true)
        && (flags.environment.map { name in places.environments.contains { $0.name == name } } ?? true)
    }
  }

  private func origin(_ gateway: GatewayPointer) -> FoundOrigin {
    .gateway(gateway, among: isNarrowed ? 1 : candidates.count)
  }

  private func absolute(_ path: String) -> String {
    URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: workingFolder, isDirectory: true)).absoluteURL
      .standardized.path
  }

  private func variable(_ name: String) -> String? { variables[name].flatMap { $0.isEmpty ? nil : $0 } }

  private func given(_ flag: String?, _ name: String, _ variables: String...) -> Found<String>? {
    if let flag { return Found(flag, .flag(name)) }
    for name in variables { if let value = variable(name) { return Found(value, .variable(name)) } }
    return nil
  }

  // MARK: Places

  /// The configuration's file.
  /// - Parameter isOfGateway: whether a running gateway says which; not for a command that starts one.
  package func configuration(isOfGateway: Bool = true) -> Found<String> {
    if let given = given(flags.configuration, "--config", "LANDLINE_CONFIG") { return given }
    if isOfGateway, let gateway { return Found(gateway.places.configuration, origin(gateway)) }
    let own = "\(settingsFolder)/landline/landline.yaml"
    return Found(exists(own) ? own : Finder.systemConfiguration, .standard)
  }

  /// The control socket of the running gateway.
  package var control: Found<String> {
    if let flag = flags.control { return Found(flag, .flag("--control")) }
    if let flag = flags.state { return Found("\(flag)/control.sock", .flag("--state")) }
    if flags.configuration == nil {
      if let path = variable("LANDLINE_CONTROL") { return Found(path, .variable("LANDLINE_CONTROL")) }
      if let given = given(nil, "", "LANDLINE_STATE", "STATE_DIRECTORY") {
        return Found("\(given.value)/control.sock", given.origin)
      }
    }
    if let gateway { return Found(gateway.places.control, origin(gateway)) }
    let path = configuration(isOfGateway: false).value
    if case .places(let places) = configured(path) { return Found(places.control, .configuration(path)) }
    return Found("\(Finder.systemState)/control.sock", .standard)
  }

  /// The ledger's file.
  package func ledger() throws(FinderProblem) -> Found<String> {
    if let flag = flags.database { return Found(flag, .flag("--database")) }
    if flags.environment == nil, !isNarrowed, let given = given(nil, "", "LANDLINE_DATABASE") { return given }
    if let gateway { return Found(try ledger(of: gateway.places, gateway.name), origin(gateway)) }
    let path = configuration(isOfGateway: false).value
    switch configured(path) {
    case .places(let places) where !places.environments.isEmpty:
      return Found(try ledger(of: places, path), .configuration(path))
    case .broken: throw .configuration(path)
    case .places, .missing:
      if let name = flags.environment { throw .unknownEnvironment(name, known: [], of: path) }
      return Found("\(stateFolder)/landline/ledger.db", .standard)
    }
  }

  /// The environment of the ledger; `nil` where neither a gateway nor a configuration named the ledger.
  package func environment() throws(FinderProblem) -> GatewayPlaces.Environment? {
    let found = try ledger()
    let places: GatewayPlaces
    switch found.origin {
    case .gateway(let gateway, _): places = gateway.places
    case .configuration(let path):
      guard case .places(let read) = configured(path) else { return nil }
      places = read
    case .flag, .variable, .standard: return nil
    }
    return places.environments.first { $0.ledger == found.value }
  }

  private func ledger(of places: GatewayPlaces, _ owner: String) throws(FinderProblem) -> String {
    let names = places.environments.map(\.name)
    if let name = flags.environment {
      guard let environment = places.environments.first(where: { $0.name == name }) else {
        throw .unknownEnvironment(name, known: names, of: owner)
      }
      return environment.ledger
    }
    guard let only = places.environments.first, names.count == 1 else { throw .environments(names, of: owner) }
    return only.ledger
  }

  /// The gateway's address for apps; `nil` where nothing names one.
  package func url() throws(FinderProblem) -> Found<String>? {
    if let given = given(flags.url, "--url", isNarrowed || flags.environment != nil ? "" : "LANDLINE_URL") {
      return given
    }
    if let gateway { return gateway.places.url.map { Found($0, origin(gateway)) } }
    let path = configuration(isOfGateway: false).value
    switch configured(path) {
    case .places(let places): return places.url.map { Found($0, .configuration(path)) }
    case .broken: throw .configuration(path)
    case .missing: return nil
    }
  }

  /// The application's key and where its secret stands, for the gateway at an address; `nil` for what nothing names.
  ///
  /// A key and a secret of one gateway are never offered to another.
  package func application(
    at url: String
  ) throws(FinderProblem) -> (key: Found<String>?, secret: Found<SecretPlace>?) {
    let givenKey = given(flags.applicationKey, "--application-key", "LANDLINE_APPLICATION_KEY")
    var secret: Found<SecretPlace>?
    if let file = given(flags.secretFile, "--secret-file", "LANDLINE_APPLICATION_SECRET_FILE") {
      secret = Found(.file(file.value), file.origin)
    } else if variable("LANDLINE_APPLICATION_SECRET") != nil {
      secret = Found(.variable("LANDLINE_APPLICATION_SECRET"), .variable("LANDLINE_APPLICATION_SECRET"))
    }
    if let givenKey, secret != nil { return (givenKey, secret) }
    guard let (places, origin) = try places(at: url) else { return (givenKey, secret) }
    var applications = places.applications
    if let name = flags.environment { applications = applications.filter { $0.environment == name } }
    if let key = givenKey?.value { applications = applications.filter { $0.key == key } }
    guard applications.count <= 1 else { throw .applications(applications, of: origin.description) }
    guard let application = applications.first else { return (givenKey, secret) }
    let place: SecretPlace =
      application.secretFile.map { .file($0) } ?? .configuration(places.configuration, key: application.key)
    return (givenKey ?? Found(application.key, origin), secret ?? Found(place, origin))
  }

  private func places(at url: String) throws(FinderProblem) -> (GatewayPlaces, FoundOrigin)? {
    if let gateway, gateway.places.url == url { return (gateway.places, origin(gateway)) }
    if let gateway = gateways.first(where: { $0.places.url == url }) {
      return (gateway.places, .gateway(gateway, among: 1))
    }
    let path = configuration(isOfGateway: false).value
    switch configured(path) {
    case .places(let places) where places.url == url: return (places, .configuration(path))
    case .places, .missing: return nil
    // Whoever named address, key and secret needs no file.
    case .broken: return nil
    }
  }

  /// Who calls, inside the application.
  package var user: String { given(flags.user, "--user", "LANDLINE_USER")?.value ?? "cli" }

  // MARK: Notes

  /// What is worth a line about a place: everything that nobody named, and a variable that leads past the gateway that
  /// runs.
  package func remark(_ name: String, _ found: Found<String>, ofGateway: (GatewayPlaces) -> [String]) -> String? {
    switch found.origin {
    case .flag: return nil
    case .variable(let variable):
      guard let gateway = gateways.first, !gateways.contains(where: { ofGateway($0.places).contains(found.value) })
      else { return nil }
      return "\(found.value) (\(variable)), not that of \(gateway.name)"
    case .gateway, .configuration: return "\(found.value) (\(found.origin))"
    case .standard: return "\(found.value) (default: no gateway of yours runs, and no configuration names one)"
    }
  }
}
