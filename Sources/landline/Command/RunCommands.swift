import ArgumentParser
import LandlineArguments
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

  @Option(
    name: .customLong("config"),
    help:
      "The configuration (default: LANDLINE_CONFIG, landline/landline.yaml in the user's or the system's settings).",
    completion: .file(extensions: ["yaml", "yml"]))
  var configuration: String?

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

  @OptionGroup(title: "Output")
  var output: OutputOptions

  func run() async throws {
    let values = [
      "state": state, "node": node, "http.bind": httpBind, "log.level": logLevel, "log.format": logFormat,
    ]
    let options = ServeOptions(
      configuration: configuration, flags: values.compactMapValues { $0 }, isCheckOnly: check)
    try await output.console { try await $0.serve(options) }
  }
}

struct InitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Make a gateway of your own: configuration, keys, account and prices.",
    discussion: """
      landline init ~/.config/landline --trunk sip:sip.example.com
      landline init /srv/landline --account acme --currency USD --address 192.0.2.1 --deck rates.csv

      In ~/.config/landline every command finds it by itself; elsewhere they need --config DIR/landline.yaml until the
      gateway runs. A run that was interrupted is continued by the same command; a folder with anything else in it is left
      alone.
      """)

  @Argument(help: "The folder to make.", completion: .directory)
  var folder: String

  @Option(help: "The account that pays for the application's calls.")
  var account = "acme"

  @Option(help: "Its currency, and that of the prices.")
  var currency = "EUR"

  @Option(help: "The application's name in the configuration.")
  var application = "phone"

  @Option(help: "The carrier, such as sip:sip.example.com (default: none; the test numbers are answered).")
  var trunk: String?

  @Option(help: "The numeric address of this machine that carriers and apps reach (default: that of its route).")
  var address: String?

  @Option(name: .customLong("http-bind"), help: "Address and port for apps and web pages.")
  var httpBind = "127.0.0.1:8080"

  @Option(help: "A file of prices (default: a few to begin with).", completion: .file(extensions: ["csv"]))
  var deck: String?

  @Option(name: .customLong("from"), help: "The number that calls show.")
  var callerNumber: String?

  @OptionGroup(title: "Output")
  var output: OutputOptions

  func run() async throws {
    var options = InitOptions(folder: folder)
    options.account = account
    options.currency = currency
    options.application = application
    options.trunk = trunk
    options.address = address
    options.httpBind = httpBind
    options.deck = deck
    options.callerNumber = callerNumber
    try await output.console { try await $0.initialise(options) }
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

  @OptionGroup(title: "Output")
  var output: OutputOptions

  func run() async throws {
    let options = DevOptions(
      state: state, port: port, trunk: trunk, origins: origin, call: call, pages: pages, isFresh: fresh)
    try await output.console { try await $0.dev(options) }
  }
}

struct CallsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calls", abstract: "Calls of a running gateway.",
    subcommands: [
      List.self, Show.self, Watch.self, HangUp.self, Press.self, Mute.self, Hold.self, Transfer.self, Add.self,
      Say.self,
      Capture.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Live calls, oldest first; or those that are over.",
      discussion: """
        landline calls list
        landline calls list --ended --limit 5
        """)
    @Flag(help: "Calls that are over, newest first, in place of live ones.") var ended = false
    @Option(help: "How many of those that are over.") var limit = 20
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        if ended {
          return try await $0.callsEnded(
            limit: limit, control: common.gateway.control, environment: common.gateway.environment)
        }
        return try await $0.callsList(control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "One call, live or over: how it went and what it cost.",
      discussion: """
        landline calls show CALL-ID
        landline calls show last --tz Europe/Stockholm
        """)
    @Argument(help: "The call's id, the beginning of one, or last.") var id: String
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsShow(id, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "watch",
      abstract: "Live calls and every change, until interrupted.",
      discussion: """
        landline calls watch
        landline calls watch --ndjson
        """)
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsWatch(control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct HangUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "hangup", abstract: "End a live call.",
      discussion: """
        landline calls hangup CALL-ID
        landline calls hangup last --cause 17
        """)
    @Argument(help: "The call's id, the beginning of one, or last.") var id: String
    @Option(help: "What trunks are told, a cause of ITU-T Q.850, 1 to 127 (default: 16, a normal end).") var cause: Int?
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsHangUp(
          id, cause: cause, control: common.gateway.control, environment: common.gateway.environment)
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
        landline calls pcap CALL-ID
        landline calls pcap CALL-ID -o call.pcapng

        With -o - the file goes to standard output: ... | tshark -r -
        """)

    @Argument(help: "The call's id, the beginning of one, or last.") var id: String

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

    @OptionGroup(title: "Gateway") var gateway: GatewayOptions

    func run() async throws {
      var places = gateway.places
      places.database = database
      let settings = ConsoleSettings(places: places, format: json ? .json : .table)
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
    commandName: "status", abstract: "How a running gateway does; exit 4 when it takes no calls.",
    discussion: "landline status")
  @OptionGroup(title: "Common") var common: CommonOptions

  func run() async throws { try await common.console { try await $0.status(control: common.gateway.control) } }
}
