import ArgumentParser
import LandlineArguments
import LandlineConsole

struct ConferenceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conference", abstract: "Conferences that somebody is in, and who takes part.",
    subcommands: [List.self, Show.self, Add.self, Mute.self, Kick.self, Lock.self, Keys.self, Say.self, End.self])
}

/// Which conference.
struct ConferenceOptions: ParsableArguments {
  @Argument(help: "The id that apps call, such as weekly.")
  var conference: String

  @Option(help: "Whose conference it is, by name or key (default: the environment's only application).")
  var application: String?

  func place(_ common: CommonOptions) -> ConferencePlace {
    ConferencePlace(
      id: conference, application: application, control: common.gateway.control,
      environment: common.gateway.environment)
  }
}

extension ConferenceCommand {
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Conferences of a running gateway.",
      discussion: """
        landline conference list
        landline conference list --json
        """)

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.conferenceList(control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Who takes part in a conference, and who speaks.",
      discussion: "landline conference show weekly")

    @OptionGroup var conference: ConferenceOptions
    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceShow(conference.place(common)) }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Call somebody who takes part once they answer.",
      discussion: """
        landline conference add weekly +46701234567
        landline conference add weekly user:bob --muted

        The conference begins with them where nobody is in it; a locked one takes them, too. A telephone is paid for like any
        other call, by the application's account or the one that is named.
        """)

    @OptionGroup var conference: ConferenceOptions

    @OptionGroup var participant: ParticipantArguments

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceAdd(conference.place(common), participant.options) }
    }
  }

  struct Mute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mute", abstract: "Let nobody hear a participant, whatever its app says.",
      discussion: """
        landline conference mute weekly 3
        landline conference mute weekly 3 --off
        landline conference mute weekly 3 --deaf
        """)

    @OptionGroup var conference: ConferenceOptions

    @Argument(help: "Its number, as landline conference show tells it.")
    var participant: Int

    @Flag(help: "Take it back.")
    var off = false

    @Flag(help: "It hears nobody, instead of nobody hearing it.")
    var deaf = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.conferenceChange(
          conference.place(common), participant, isMuted: deaf ? nil : !off, isDeaf: deaf ? !off : nil)
      }
    }
  }

  struct Kick: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "kick", abstract: "Take a participant out; the conference goes on.",
      discussion: "landline conference kick weekly 3")

    @OptionGroup var conference: ConferenceOptions

    @Argument(help: "Its number, as landline conference show tells it.")
    var participant: Int

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceKick(conference.place(common), participant) }
    }
  }

  struct Lock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "lock", abstract: "Take no more participants but those that are added here or over REST.",
      discussion: """
        landline conference lock weekly
        landline conference lock weekly --off
        """)

    @OptionGroup var conference: ConferenceOptions

    @Flag(help: "Take them again.")
    var off = false

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceLock(conference.place(common), !off) }
    }
  }

  struct Keys: AsyncParsableCommand {
    enum Mode: String, ExpressibleByArgument, CaseIterable { case ignore, forward, detect }

    static let configuration = CommandConfiguration(
      commandName: "keys",
      abstract: "What becomes of keys that are pressed in it; none is heard.",
      discussion: """
        landline conference keys weekly detect
        landline conference keys weekly forward

        forward presses them towards all others, detect shows them with the participant (landline conference show).
        """)

    @OptionGroup var conference: ConferenceOptions

    @Argument(help: "ignore, as it is at first, forward or detect.")
    var mode: Mode

    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceKeys(conference.place(common), mode.rawValue) }
    }
  }

  struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "end", abstract: "End a conference: the calls of all who take part.",
      discussion: "landline conference end weekly")

    @OptionGroup var conference: ConferenceOptions
    @OptionGroup(title: "Common")
    var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceEnd(conference.place(common)) }
    }
  }
}
