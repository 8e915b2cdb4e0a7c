import CallModel
import Foundation
import LandlineConfiguration
import LedgerSQLite
import RoutingCore
import SIPCore

extension Console {
  /// Makes a gateway's folder: configuration, keys, and a ledger with an account, prices and a plan. A run that was
  /// interrupted is continued by the same command.
  package func initialise(_ options: InitOptions) async throws -> Answer {
    let account = try Arguments.name(options.account, "--account", as: AccountName.self)
    let currency = try Arguments.currency(options.currency)
    if let number = options.callerNumber {
      _ = try Arguments.value("--from") { () throws(InvalidValue) in try E164Number(number) }
    }
    let letters = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-")
    guard (1...32).contains(options.application.utf8.count), !GatewayFolder.taken.contains(options.application),
      options.application.unicodeScalars.allSatisfy(letters.contains)
    else {
      throw ConsoleError.usage(
        "application.name", "application: \"\(CallFailure.shortened(options.application))\" is no name for one",
        at: "--application", fix: "1 to 32 lower-case letters, digits and '-', such as phone")
    }
    let trunk = try options.trunk.map { try Console.checkedTrunk($0) }
    let address = try Console.address(options.address)
    let folder = GatewayFolder(options.folder)
    let isNew = try folder.begin(
      [
        "--account \(account)", "--currency \(currency)", "--application \(options.application)",
        "--http-bind \(options.httpBind)", options.trunk.map { "--trunk \($0)" },
        options.address.map { "--address \($0)" }, options.deck.map { "--deck \($0)" },
        options.callerNumber.map { "--from \($0)" },
      ].compactMap { $0 }.joined(separator: " "))
    let key: String
    do {
      key = try folder.write(options, address: address, trunk: trunk)
      // The same reader as at the start: an address that cannot stand there is told now.
      _ = try readConfiguration(folder.configuration)
    } catch {
      if isNew { folder.undo() }
      throw error
    }
    try await prepareBooks(folder, options)
    try folder.finish()

    let flag = folder.configuration == configurationPath(isOfGateway: false) ? "" : " --config \(folder.configuration)"
    var answer = Answer(
      record: Listing(
        [
          Column("configuration"), Column("address"), Column("trunk"), Column("account"), Column("ledger"),
          Column("application_key", title: "application key"), Column("secret_file", title: "its secret"),
          Column("operator_file", title: "operator's key"),
        ],
        rows: [
          [
            .text(folder.configuration), .text(address), .text(optional: trunk), .text(account.text),
            .text(folder.ledger), .text(key), .text(folder.secret(options.application)), .text(folder.operatorKey),
          ]
        ]))
    answer.notes = [
      "next: landline topup \(account) 10\(flag)", "then: landline serve\(flag)",
      "and in another terminal: landline call +46000000000",
    ]
    if address == "127.0.0.1" {
      answer.notes.append("only this machine can reach it: name another address with --address, or in the file")
    }
    return answer
  }

  /// A URI that the written configuration can have.
  private static func checkedTrunk(_ text: String) throws -> String {
    let uri = try trunkURI(text, form: "a SIP URI such as sip:sip.example.com")
    guard !text.contains("\""), !text.contains("\\") else {
      throw ConsoleError.usage("trunk.uri", "URI: a quote or backslash", at: "--trunk", fix: "sip:sip.example.com")
    }
    let isSecure = uri.scheme == .sips || text.lowercased().contains("transport=tls")
    guard !isSecure else {
      throw ConsoleError.usage(
        "trunk.tls", "a trunk over TLS needs a listener with a certificate, which init cannot make", at: "--trunk",
        fix: "init without --trunk; then add the trunk and a TLS listener as Config/landline.yaml shows")
    }
    return text
  }

  /// The named address, else the one of this machine that packets to others carry.
  private static func address(_ option: String?) throws -> String {
    guard let option else {
      // An address for documentation (RFC 5737): only the route is looked up, nothing is sent.
      let elsewhere = TransportAddress(.udp, .ipv4(0xC000_0201), port: 5060)
      guard case .success(let host) = LocalRoute.address(to: elsewhere) else { return "127.0.0.1" }
      return "\(host)"
    }
    let host = try Arguments.value("--address") { () throws(InvalidValue) in try SIPHost(unbracketed: option) }
    if case .name = host {
      throw ConsoleError.usage(
        "address.name", "address: a name stands where an address must", at: "--address",
        fix: "a numeric address of this machine, such as 192.0.2.1")
    }
    return "\(host)"
  }

  /// Account, prices and plan; each step is done once, however often it is begun.
  private func prepareBooks(_ folder: GatewayFolder, _ options: InitOptions) async throws {
    let books = Console(settings: ConsoleSettings(database: folder.ledger), environment: environment)
    let creation = AccountCreation(
      name: options.account, currency: options.currency, kind: "prepaid", creditLimit: nil, plan: nil, zone: "UTC",
      caps: CapOptions())
    _ = try await books.accountCreate(creation, WriteOptions(key: "init-account"))
    let version = "1"
    let (hasDeck, hasPlan) = try books.rates { store in
      (
        try store.decks().contains { $0.name == GatewayFolder.deck }, (try? store.plan(GatewayFolder.plan)) != nil
      )
    }
    if !hasDeck {
      _ = try await books.deckImport(
        DeckImport(
          file: options.deck ?? folder.rates, name: GatewayFolder.deck, version: version, currency: options.currency,
          zone: "UTC", timeClasses: nil, activeFrom: nil, isDryRun: false))
    }
    if !hasPlan {
      _ = try await books.deckActivate("\(GatewayFolder.deck)@\(version)", from: nil, isDryRun: false)
      _ = try await books.planCreate(GatewayFolder.plan, decks: [GatewayFolder.deck], isDryRun: false)
    }
    _ = try await books.accountSetPlan(options.account, plan: GatewayFolder.plan, WriteOptions(key: "init-plan"))
  }
}
