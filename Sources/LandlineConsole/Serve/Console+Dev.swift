import CallModel
import Foundation
import LandlineConfiguration
import LandlineServer
import LandlineWire
import LedgerCore
import NodeCore
import SIPCore
import Synchronization

extension Console {
  /// Runs a whole gateway on loopback, for trying things out: one process, a ledger in a file, an account with play credit,
  /// a far end that answers. The configuration it runs with is written beside its ledger.
  package func dev(_ options: DevOptions) async throws -> Answer {
    if let trunk = options.trunk { _ = try Console.trunkURI(trunk, form: "a SIP URI such as sip:127.0.0.1:5070") }
    let dev = try DevFolder(options, stateFolder: stateFolder)
    // A browser may leave loopback out where it looks for ways to send sound, as Firefox does.
    let beside = MachineAddress.first()
    try dev.write(options, mediaBeside: beside)
    try await prepareBooks(dev)
    let configuration = try readConfiguration(dev.configurationFile)
    let ended = Mutex(ExitStatus.ok)
    try await run(configuration, as: "dev", path: dev.configurationFile, reloading: nil, signsInLocally: true) {
      gateway, port in
      try await dev.makeNumber(gateway.operations)
      try TextStream.standardOutput.write(
        dev.banner(port: port, sip: gateway.sipAddresses.first ?? "", mediaBeside: beside))
      guard let target = options.call else { return .goesOn }
      var call = CallOptions(target: target)
      call.app.url = "ws://127.0.0.1:\(port)"
      call.app.applicationKey = dev.applicationKey
      call.app.secretFile = dev.secretFile
      let answer = try await self.call(call)
      ended.withLock { $0 = answer.status }
      return .ends
    }
    var answer = Answer.streamed(notes: [])
    answer.status = ended.withLock { $0 }
    return answer
  }

  /// The demo account with its prices and credit; what is there already stays as it is.
  private func prepareBooks(_ dev: DevFolder) async throws {
    let books = Console(
      settings: ConsoleSettings(database: dev.ledgerFile), environment: environment)
    let write = WriteOptions(key: "dev-account")
    if !FileManager.default.fileExists(atPath: dev.ledgerFile) {
      _ = try await books.accountCreate(
        AccountCreation(
          name: DevFolder.account, currency: "EUR", kind: "prepaid", creditLimit: nil, plan: nil, zone: "UTC",
          caps: CapOptions()), write)
      _ = try await books.deckImport(
        DeckImport(
          file: dev.deckFile, name: DevFolder.deck, version: "1", currency: "EUR", zone: "UTC", timeClasses: nil,
          activeFrom: "now", isDryRun: false))
      _ = try await books.planCreate(DevFolder.plan, decks: [DevFolder.deck], isDryRun: false)
      _ = try await books.accountSetPlan(DevFolder.account, plan: DevFolder.plan, WriteOptions(key: "dev-plan"))
      _ = try await books.topup(
        account: DevFolder.account, amount: DevFolder.credit, method: "play", note: "play credit",
        WriteOptions(key: "dev-credit"))
    }
  }
}

/// The files of a development gateway.
struct DevFolder: Sendable {
  static let account = "demo"
  static let deck = "dev"
  static let plan = "dev"
  static let credit = "5.00"
  static let callerNumber = "+46812345678"
  static let environment = "sandbox"
  /// Leads to the user that the first page is.
  static let inboundNumber = "+46850000536"
  static let pageUser = "alice"

  let folder: URL
  var configurationFile: String { folder.appendingPathComponent("landline.yaml").path }
  var ledgerFile: String { folder.appendingPathComponent("ledger.db").path }
  var deckFile: String { folder.appendingPathComponent("rates.csv").path }
  /// `LANDLINE_…` assignments for a shell, readable by the owner alone.
  var environmentFile: String { folder.appendingPathComponent("environment").path }
  var secretFile: String { folder.appendingPathComponent("secret").path }
  private var keyFile: String { folder.appendingPathComponent("key").path }
  private var operatorFile: String { folder.appendingPathComponent("operator").path }

  init(_ options: DevOptions, stateFolder: String) throws {
    folder = URL(fileURLWithPath: options.state ?? "\(stateFolder)/landline/dev")
    let files = FileManager.default
    if options.isFresh, files.fileExists(atPath: configurationFile) {
      // Only what this command makes: the folder may be anybody's.
      for name in try files.contentsOfDirectory(atPath: folder.path) where DevFolder.isOwn(name) {
        try files.removeItem(at: folder.appendingPathComponent(name))
      }
    }
    try files.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private static func isOwn(_ name: String) -> Bool {
    ["landline.yaml", "rates.csv", "secret", "key", "operator", "environment", "control.sock"].contains(name)
      || name.hasPrefix("ledger")
  }

  /// The application's key: a lower-case GUID, made once.
  var applicationKey: String { (try? String(contentsOfFile: keyFile, encoding: .utf8)) ?? "" }

  /// - Parameter mediaBeside: the machine's address besides loopback that apps on it may send sound to.
  func write(_ options: DevOptions, mediaBeside: SIPHost?) throws {
    try SecretFile.writeOnce(keyFile) { UUID().uuidString.lowercased() }
    try SecretFile.writeOnce(secretFile) { SecretFile.random(ApplicationConfiguration.secretBytes) }
    try SecretFile.writeOnce(operatorFile) { SecretFile.random(24) }
    try StarterRates.csv.write(toFile: deckFile, atomically: true, encoding: .utf8)
    var text = """
      # Written by landline dev at each start. Copy it to make a configuration of your own; Config/landline.yaml explains
      # every key.
      node: dev
      state: .
      http:
        bind: 127.0.0.1:\(options.port)
      media:
        app:
          - bind: 127.0.0.1
            port: 0
        trunk:
          - bind: 127.0.0.1
      drain:
        timeout: 0s
      log:
        level: warning
        format: text
      environments:
        \(DevFolder.environment):
          ledger: ledger.db
          sandbox-numbers: true
          countries: any
          applications:
            demo:
              key: \(applicationKey)
              secret-file: secret
              account: \(DevFolder.account)
              caller-numbers: ["\(DevFolder.callerNumber)"]
          operators:
            dev:
              key-file: operator

      """
    if let mediaBeside {
      text = text.replacing(
        "      port: 0\n",
        with: "      port: 0\n    - bind: \"\(mediaBeside)\"\n      port: 0\n      only-this-machine: true\n")
    }
    if !options.origins.isEmpty {
      let origins = options.origins.map(DevFolder.quoted).joined(separator: ", ")
      text = text.replacing(
        "  bind: 127.0.0.1:\(options.port)\n", with: "  bind: 127.0.0.1:\(options.port)\n  origins: [\(origins)]\n")
    }
    if let pages = options.pages {
      let folder = URL(fileURLWithPath: pages).path
      text = text.replacing(
        "  bind: 127.0.0.1:\(options.port)\n",
        with: "  bind: 127.0.0.1:\(options.port)\n  pages: \(DevFolder.quoted(folder))\n")
    }
    if let trunk = options.trunk {
      text = text.replacing(
        "    sandbox-numbers: true\n", with: "    sandbox-numbers: true\n    trunks: [trunk]\n")
      text += """
        trunks:
          trunk:
            uri: \(DevFolder.quoted(trunk))
            codecs: [pcma, pcmu]
            ping: 0s

        """
    }
    try text.write(toFile: configurationFile, atomically: true, encoding: .utf8)
  }

  /// An inbound number that 'landline number' can change, so it stands in no configuration; one that is there stays.
  func makeNumber(_ operations: any GatewayOperations) async throws {
    let number = try E164Number(DevFolder.inboundNumber)
    let known = await operations.numbers(environment: DevFolder.environment)
    guard !known.contains(where: { $0.row.number == number }) else { return }
    _ = try await operations.setNumber(
      InboundNumber(
        number, application: applicationKey, account: AccountName(unchecked: DevFolder.account),
        targets: [InboundNumber.Target(.user(try UserID(DevFolder.pageUser)))]),
      environment: DevFolder.environment, by: "dev")
  }

  func banner(port: UInt16, sip: String, mediaBeside: SIPHost?) throws -> String {
    let url = "ws://127.0.0.1:\(port)"
    let assignments = """
      export LANDLINE_URL=\(url)
      export LANDLINE_APPLICATION_KEY=\(applicationKey)
      export LANDLINE_APPLICATION_SECRET_FILE='\(secretFile)'
      export LANDLINE_DATABASE='\(ledgerFile)'
      export LANDLINE_CONTROL='\(folder.appendingPathComponent("control.sock").path)'

      """
    try SecretFile.write(assignments, to: environmentFile)
    return """
      Landline runs at http://127.0.0.1:\(port)/ for this machine only: open it and call. Ctrl-C ends it.
        apps, SIP     \(url), \(sip)
        sound         UDP on 127.0.0.1\(mediaBeside.map { " and \($0), closed to other machines" } ?? " alone: Firefox needs a network, or media.peerconnection.ice.loopback")
        application   \(applicationKey), secret in \(secretFile)
        account       \(DevFolder.account), \(DevFolder.credit) EUR of play credit at first
        numbers       +46000000000 says that the call is connected; +46000000486 is busy; any other answers and echoes
        inbound       \(DevFolder.inboundNumber) rings the first page; landline number set \(DevFolder.inboundNumber) --user bob
        files         \(folder.path)
        try           landline call +46000000000, in another terminal

      """
  }

  /// As a scalar of YAML; what cannot stand there is left out.
  private static func quoted(_ text: String) -> String {
    "\"\(text.filter { $0 != "\"" && $0 != "\\" && !$0.isNewline })\""
  }
}

extension Console {
  /// The trunk that `--trunk` names. The configuration takes a bare host as well; a command line does not, where a word
  /// may have been meant for something else.
  /// - Parameter form: what is told to be wanted.
  static func trunkURI(_ text: String, form: String) throws -> SIPURI {
    let lowercased = text.lowercased()
    guard lowercased.hasPrefix("sip:") || lowercased.hasPrefix("sips:") else {
      throw ConsoleError.usage(
        "trunk.uri", "trunk: \"\(TrunkText.clean(text))\" is no SIP URI", at: "--trunk", fix: form)
    }
    do throws(InvalidValue) {
      return try TrunkConfiguration(name: "trunk", uri: text).uri
    } catch {
      var failure = ConsoleError(error, in: "--trunk")
      failure.fix = form
      throw failure
    }
  }
}
