import CallModel
import Foundation
import LandlineConfiguration

/// The folder of a gateway as `landline init` makes it: a configuration, secrets, and a state folder beside them.
struct GatewayFolder: Sendable {
  static let environment = "production"
  static let trunk = "carrier"
  static let deck = "retail"
  static let plan = "retail"
  /// Names of secrets that no application can have.
  static let taken = ["operator", "application-key"]

  let path: String
  var configuration: String { "\(path)/landline.yaml" }
  var ledger: String { "\(path)/state/\(Self.environment).ledger" }
  var rates: String { "\(path)/rates.csv" }
  func secret(_ application: String) -> String { "\(path)/secrets/\(application)" }
  var operatorKey: String { "\(path)/secrets/operator" }
  private var applicationKey: String { "\(path)/secrets/application-key" }
  /// There while the work is not done; holds what was asked.
  private var unfinished: String { "\(path)/.init-unfinished" }

  init(_ folder: String) { path = URL(fileURLWithPath: folder).standardized.path }

  /// Makes the folder, or goes on with one that an interrupted run has left.
  /// - Returns: whether it was begun now.
  /// - Throws: ``ConsoleError`` for a folder with anything else in it.
  func begin(_ asked: String) throws -> Bool {
    let files = FileManager.default
    if let begun = try? String(contentsOfFile: unfinished, encoding: .utf8) {
      guard begun == asked else {
        throw ConsoleError(
          .conflict, code: "init.other", "a gateway with other options was begun here", at: path,
          fix: "the same options again (\(begun)), or another folder")
      }
      return false
    }
    if files.fileExists(atPath: path), (try? files.contentsOfDirectory(atPath: path)) != [] {
      let isGateway = files.fileExists(atPath: configuration)
      throw ConsoleError(
        .conflict, code: "init.notEmpty", isGateway ? "there is a gateway already" : "the folder is not empty",
        at: path,
        fix: isGateway ? "landline serve --check --config \(configuration)" : "a folder that is empty or not there yet")
    }
    do {
      for folder in [path, "\(path)/secrets", "\(path)/state"] {
        try files.createDirectory(
          atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      }
    } catch {
      throw ConsoleError(
        .notPermitted, code: "init.folder", "the folder cannot be made: \(error.localizedDescription)", at: path)
    }
    try SecretFile.write(asked, to: unfinished)
    return true
  }

  /// Takes away what was begun: it cannot be continued as it was asked.
  func undo() {
    let files = FileManager.default
    for name in (try? files.contentsOfDirectory(atPath: path)) ?? [] {
      try? files.removeItem(atPath: "\(path)/\(name)")
    }
    rmdir(path)
  }

  func finish() throws { try FileManager.default.removeItem(atPath: unfinished) }

  /// Keys, prices and the configuration; what an interrupted run has made stays as it is.
  /// - Returns: the application's key.
  func write(_ options: InitOptions, address: String, trunk: String?) throws -> String {
    try SecretFile.writeOnce(applicationKey) { UUID().uuidString.lowercased() }
    try SecretFile.writeOnce(secret(options.application)) {
      SecretFile.random(ApplicationConfiguration.secretBytes)
    }
    try SecretFile.writeOnce(operatorKey) { SecretFile.random(24) }
    let key = try String(contentsOfFile: applicationKey, encoding: .utf8)
    if options.deck == nil { try SecretFile.writeOnce(rates) { StarterRates.csv } }
    try SecretFile.writeOnce(configuration) { text(options, key: key, address: address, trunk: trunk) }
    return key
  }

  private func text(_ options: InitOptions, key: String, address: String, trunk: String?) -> String {
    let way =
      trunk == nil
      ? """
          # Numbers such as +46000000486 are answered by the gateway itself, and so is every other while there is no trunk.
          sandbox-numbers: true
          # trunks: [\(Self.trunk)]
      """
      : """
          # Trunks that carry its calls; their priorities decide the order.
          trunks: [\(Self.trunk)]
      """
    let numbers = options.callerNumber.map { "caller-numbers: [\"\($0)\"]" } ?? "# caller-numbers: [\"+46812345678\"]"
    let countries = options.callerNumber == nil ? "countries: [any]" : "# countries: [46, 47]"
    let carrier =
      trunk.map { uri in
        """
        trunks:
          \(Self.trunk):
            uri: "\(uri)"
            # Credentials, where the carrier asks for them.
            # account:
            #   username: landline-1001
            #   password-file: secrets/\(Self.trunk)
            # register: 1h

        """
      }
        ?? """
        # Carriers: 'landline trunk test URI' tries one, and prints the lines for this file.
        # trunks:
        #   \(Self.trunk):
        #     uri: sip:sip.example.com

        """
    return """
      # A gateway, as landline init made it. Relative names start at this folder; 'landline serve --check' names every
      # problem, and SIGHUP takes most changes over without dropping a call.

      # Signs the ledgers' entries, so it stays alike at every start.
      node: gateway
      # Ledgers and everything else that the gateway keeps.
      state: state

      # Where apps, web pages and operators reach the gateway. Plain HTTP stays on this machine: for others put a proxy with
      # TLS in front, or name 'certificate' and 'key' here.
      http:
        bind: "\(options.httpBind)"

      # Where sound comes and goes: apps at one port, trunks at two for each call.
      media:
        app:
          - bind: "\(address)"
            port: 10000
        trunk:
          - bind: "\(address)"
            ports: 16384-32767

      # Each with a ledger, keys and numbers of its own.
      environments:
        \(Self.environment):
          ledger: \(Self.environment).ledger
      \(way)
          applications:
            \(options.application):
              key: \(key)
              secret-file: secrets/\(options.application)
              # Who pays: an account of the ledger.
              account: \(options.account)
              # The only numbers that calls may show; the first one where a call names none.
              \(numbers)
          # Countries that may be called: without it, those of the numbers above.
          \(countries)
          # Whoever sends the first line of the file as a bearer token may use the whole REST interface and the pages.
          operators:
            operator:
              key-file: secrets/operator

      log:
        format: text

      # Where carriers reach this gateway over SIP.
      listeners:
        udp:
          transport: udp
          bind: "\(address):5060"

      \(carrier)
      """
  }
}
