import ArgumentParser
import LandlineConsole

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Run a gateway.",
    discussion: """
      landline serve --config /etc/landline/landline.yaml
      landline serve --check

      SIGTERM takes no new calls and ends when the last one is over, or after drain.timeout; SIGHUP reads the
      configuration again and drops no call. Exit 9 for a configuration that cannot be used: all its problems are named.
      """)

  @OptionGroup(title: "Configuration")
  var file: ConfigurationOptions

  @Option(help: "Folder of ledgers and other state (LANDLINE_STATE).", completion: .directory)
  var state: String?

  @Option(help: "This node's name in the ledgers (LANDLINE_NODE).")
  var node: String?

  @Option(name: .customLong("http-bind"), help: "Address and port of the door for apps and REST (LANDLINE_HTTP_BIND).")
  var httpBind: String?

  @Option(name: .customLong("log-level"), help: "trace, debug, info, notice, warning, error or critical.")
  var logLevel: String?

  @Option(name: .customLong("log-format"), help: "json or text.")
  var logFormat: String?

  @Flag(help: "Read the configuration, print every value with its origin, and end.")
  var check = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    let values = [
      "state": state, "node": node, "http.bind": httpBind, "log.level": logLevel, "log.format": logFormat,
    ]
    let options = ServeOptions(
      configuration: file.path, flags: values.compactMapValues { $0 }, isCheckOnly: check)
    try await common.console { try await $0.serve(options) }
  }
}

struct DevCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev", abstract: "Run a whole gateway on this machine, to try things out.",
    discussion: """
      landline dev
      landline dev --call +46000000000
      landline dev --trunk sip:127.0.0.1:5070

      Everything is in one process and on loopback: apps, calls, a far end that answers, a ledger with play credit.
      """)

  @Option(help: "Folder of its files (default: landline/dev in the user's state directory).", completion: .directory)
  var state: String?

  @Option(help: "Port on 127.0.0.1 for apps and REST; 0 for any.")
  var port: UInt16 = 8080

  @Option(help: "Send calls to ordinary numbers to this SIP URI (default: the built-in far end).")
  var trunk: String?

  @Option(
    help: ArgumentHelp(
      "Let web pages of this origin connect, such as https://app.example.com; may be repeated. Pages of this machine may.",
      valueName: "url"))
  var origin: [String] = []

  @Option(help: "Call this target, print what happens, and end.")
  var call: String?

  @Option(help: "Serve the web pages from this folder (default: the built-in ones).", completion: .directory)
  var pages: String?

  @Flag(help: "Forget what an earlier run left in the folder.")
  var fresh = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    let options = DevOptions(
      state: state, port: port, trunk: trunk, origins: origin, call: call, pages: pages, isFresh: fresh)
    try await common.console { try await $0.dev(options) }
  }
}

/// Which running gateway.
struct ControlOptions: ParsableArguments {
  @Option(
    help: "The gateway's control socket (default: LANDLINE_CONTROL, control.sock in its state folder).",
    completion: .file())
  var control: String?

  @Option(help: "The environment, where there are several.")
  var environment: String?
}

struct CallsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls", abstract: "Calls of a running gateway.",
    subcommands: [List.self, Show.self, Watch.self, HangUp.self, Capture.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Live calls, oldest first.")
    @OptionGroup(title: "Gateway") var gateway: ControlOptions
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsList(control: gateway.control, environment: gateway.environment)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "One call, live or over: how it went and what it cost.")
    @Argument(help: "The call's id.") var id: String
    @OptionGroup(title: "Gateway") var gateway: ControlOptions
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsShow(id, control: gateway.control, environment: gateway.environment)
      }
    }
  }

  struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Live calls and every change, until interrupted.")
    @OptionGroup(title: "Gateway") var gateway: ControlOptions
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsWatch(control: gateway.control, environment: gateway.environment)
      }
    }
  }

  struct HangUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hangup", abstract: "End a live call.")
    @Argument(help: "The call's id.") var id: String
    @OptionGroup(title: "Gateway") var gateway: ControlOptions
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsHangUp(id, control: gateway.control, environment: gateway.environment)
      }
    }
  }
}

extension CallsCommand {
  /// It has no `CommonOptions`: `-o` is its file.
  struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pcap", abstract: "The SIP messages of a call as a file for Wireshark (pcapng).",
      discussion: """
        landline calls pcap ID                      write ID.pcapng
        landline calls pcap ID -o - | tshark -r -   look at it at once
        """)

    @Argument(help: "The call's id.") var id: String

    @Option(
      name: [.customShort("o"), .customLong("output")],
      help: "The file, or - for standard output (default: ID.pcapng).",
      completion: .file(extensions: ["pcapng"]))
    var output: String?

    @Option(
      help: "Read the files of this ledger; no gateway is asked (default: the gateway, else LANDLINE_DATABASE).",
      completion: .file())
    var database: String?

    @Flag(help: "One JSON object.")
    var json = false

    @OptionGroup(title: "Gateway") var gateway: ControlOptions

    func run() async throws {
      let settings = ConsoleSettings(database: database, format: json ? .json : .table)
      let options = StoryOptions(control: gateway.control, environment: gateway.environment)
      let status = await Console(settings: settings, environment: .process()).run {
        try await $0.callsCapture(id, to: output, options)
      }
      if status != .ok { throw ExitCode(status.rawValue) }
    }
  }
}

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "How a running gateway does; exit 4 when it takes no calls.")
  @OptionGroup(title: "Gateway") var gateway: ControlOptions
  @OptionGroup(title: "Common") var common: CommonOptions

  func run() async throws { try await common.console { try await $0.status(control: gateway.control) } }
}
