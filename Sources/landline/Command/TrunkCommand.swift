import ArgumentParser
import LandlineArguments
import LandlineConsole

struct TrunkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trunk", abstract: "Carriers and other SIP peers: what is configured, and whether it works.",
    subcommands: [List.self, Show.self, Test.self])
}

/// Completion of trunk names from the configuration itself.
enum TrunkCompletion {
  static let names = CompletionKind.custom { arguments, _, _ in
    Console(settings: .completing(arguments), environment: .process()).trunkNames()
  }
}

extension TrunkCommand {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Trunks of the configuration, in its order.", discussion: "landline trunk list --config landline.yaml")

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.trunkList() } }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Everything that holds for one trunk, what the file leaves out included.",
      discussion: "landline trunk show carrier-a")

    @Argument(help: "The trunk's name.", completion: TrunkCompletion.names)
    var name: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.trunkShow(name) } }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "test",
      abstract: "Look at a trunk from its name to a call: DNS, reachability, TLS, OPTIONS, account, codecs, caller.",
      discussion: """
        landline trunk test carrier-a
        landline trunk test sip:sip.example.com;transport=tls
        landline trunk test carrier-a --number +46701234567 --from +46812345678

        One line a step: ok, warn, fail or skip, and what to do about it; at the end what came of it, with the lines for
        the configuration. With --number a real INVITE goes out: sound before the answer or two seconds after it are
        listened for, then the call is ended; a phone that only rings is left after --ring-for. Exit 4 when a step failed.
        """)

    @Argument(help: "A trunk of the configuration, or a sip or sips URI.", completion: TrunkCompletion.names)
    var trunk: String

    @Option(help: "Call this number too, and listen.")
    var number: String?

    @Option(name: .customLong("from"), help: "The number that calls (default: one of the trunk's own).")
    var caller: String?

    @Option(help: "User of the account.")
    var user: String?

    @Option(help: "File whose first line is the password.", completion: .file())
    var passwordFile: String?

    @Option(help: "The only realm that gets credentials.")
    var realm: String?

    @Flag(help: "Register the account and take it back, though the trunk is not configured so.")
    var register = false

    @Option(help: "How long one answer may take: 100ms to 60s.")
    var timeout = "5s"

    @Option(name: .customLong("ring-for"), help: "How long a phone may ring before the call is taken back: 0s to 60s.")
    var ringing = "15s"

    @Option(name: .customLong("name-server"), help: "Ask this name server, such as 192.0.2.53:53; repeatable.")
    var nameServers: [String] = []

    @Option(
      name: .customLong("ca"), help: "Trust the authorities of this PEM file alone; repeatable.", completion: .file())
    var authorities: [String] = []

    @Option(name: .customLong("pin"), help: "Trust the certificate with this SHA-256 fingerprint; repeatable.")
    var pins: [String] = []

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      var options = TrunkTestOptions(subject: trunk)
      options.number = number
      options.caller = caller
      options.user = user
      options.passwordFile = passwordFile
      options.realm = realm
      options.registers = register
      options.timeout = timeout
      options.ringing = ringing
      options.nameServers = nameServers
      options.authorities = authorities
      options.pins = pins
      try await common.console { try await $0.trunkTest(options) }
    }
  }
}
