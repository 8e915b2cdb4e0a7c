import ArgumentParser
import LandlineArguments
import LandlineConsole

struct NumberCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "number", abstract: "Numbers that trunks bring calls to, and what a number is.",
    subcommands: [List.self, Show.self, Set.self, Remove.self, Parse.self])
}

extension NumberCommand {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Numbers of a running gateway, and where their calls lead.",
      discussion: """
        landline number list
        landline number list --json
        """)

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.numberList(control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Everything that holds for one number.",
      discussion: "landline number show +46850000536")

    @Argument(help: "+, the country code and the national number.")
    var number: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.numberShow(number, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  enum State: String, EnumerableFlag {
    case active, inactive

    static func help(for value: State) -> ArgumentHelp? {
      switch value {
      case .active: "Take its calls, as it does when it is made."
      case .inactive: "Take none of its calls."
      }
    }
  }

  struct Set: AsyncParsableCommand {
    enum Record: String, ExpressibleByArgument, CaseIterable { case opus, wav, off }

    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Make a number, or change what is named of it.",
      discussion: """
        landline number set +46850000536 --user bob
        landline number set +46850000536 --user bob --phone +46701234567 --ring 20s
        landline number set +46850000536 --conference weekly
        landline number set +46850000536 --block +4670 --refuse-anonymous
        landline number set +46850000536 --inactive

        Targets are tried in the order in which they stand here, and replace those there were. Holds for the next call; calls
        that are up go on. A number that stands in the configuration is changed there.
        """)

    @Argument(help: "+, the country code and the national number.")
    var number: String

    @Option(name: .customLong("user"), help: "Ring this user's devices; repeatable, as the next three.")
    var users: [String] = []

    @Option(name: .customLong("phone"), help: "Forward to this number.")
    var phones: [String] = []

    @Option(name: .customLong("sip"), help: "Forward to this SIP address.")
    var addresses: [String] = []

    @Option(name: .customLong("conference"), help: "Bring callers into this conference; the last target.")
    var conferences: [String] = []

    @Option(help: "How long each target rings: 5s to 120s (default: 45s).")
    var ring: String?

    @Option(help: "Whose users are meant, by name or key (default: the environment's only application).")
    var application: String?

    @Option(help: "Who pays (default: the application's account).", completion: AccountCompletion.names)
    var account: String?

    @Option(help: "Calls at a time, or any.")
    var channels: String?

    @Flag(inversion: .prefixedNo, help: "Answer, and bill, before anybody takes the call.")
    var answerFirst: Bool?

    @Option(help: "What the trunk is told when nobody took the call: 408, 480, 486 or 503.")
    var noAnswer: Int?

    @Option(
      name: .customLong("block"), help: "Turn away callers whose number begins so; repeatable; none for no one.")
    var blocked: [String] = []

    @Flag(inversion: .prefixedNo, help: "Turn away callers that withhold their number.")
    var refuseAnonymous: Bool?

    @Option(help: "Record calls from their answer on, as opus or wav; or off.")
    var record: Record?

    @Flag(inversion: .prefixedNo, help: "Whether a voice says to both sides that they are recorded (default: it does).")
    var recordAnnounced: Bool?

    @Flag(
      inversion: .prefixedNo, help: "Whether both sides hear a short tone every 15 s meanwhile (default: they do not).")
    var recordTone: Bool?

    @Flag
    var state: State?

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      var options = NumberOptions(number: number)
      options.ring = ring
      options.application = application
      options.account = account
      options.isActive = state.map { $0 == .active }
      options.noAnswer = noAnswer
      options.channels = channels
      options.answersFirst = answerFirst
      options.refusesAnonymous = refuseAnonymous
      options.blocked = blocked
      options.record = record?.rawValue
      options.announcesRecording = recordAnnounced
      options.hasRecordingTone = recordTone
      try await common.console { console in
        options.targets = NumberOptions.targets(
          users: users, phones: phones, addresses: addresses, conferences: conferences,
          typed: console.environment.commandLine)
        return try await console.numberSet(
          options, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a number: its calls are no longer ours.",
      discussion: "landline number remove +46850000536")

    @Argument(help: "+, the country code and the national number.")
    var number: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.numberRemove(number, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Parse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "parse",
      abstract: "What a number is, as far as its country's number plan tells.",
      discussion: "landline number parse '+46 70 123 45 67'")

    @Argument(help: "+, the country code and the national number.")
    var number: String

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws { try await common.console { try await $0.numberParse(number) } }
  }
}
