import ArgumentParser
import LandlineArguments
import LandlineConsole

/// `landline recording …`
struct RecordingCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recording", abstract: "Record calls and conferences, and hear what was recorded.",
    subcommands: [Start.self, Pause.self, Resume.self, Stop.self, List.self, Save.self, Delete.self])
}

/// Whose recording.
struct RecordingSubject: ParsableArguments {
  @Argument(help: "A call's id, the beginning of one, last, or conf:ID for a conference.")
  var target: String

  @Option(help: "Whose conference it is, by name or key (default: the environment's only application).")
  var application: String?

  func place(_ common: CommonOptions) -> RecordingPlace {
    RecordingPlace(subject: target, application: application, gateway: common.recordings)
  }
}

extension CommonOptions {
  var recordings: RecordingGateway {
    RecordingGateway(control: gateway.control, environment: gateway.environment)
  }
}

extension RecordingCommand {
  enum Format: String, ExpressibleByArgument, CaseIterable { case opus, wav }

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begin to record a call that is up, or a conference.",
      discussion: """
        landline recording start last
        landline recording start conf:weekly --format wav --announce

        Of a call the caller is on the left and the called side on the right; of a conference all are together. It ends with
        the call or the conference, and is encrypted on the disk.
        """)

    @OptionGroup var subject: RecordingSubject

    @Option(help: "opus, which is smaller, or wav (default: opus).")
    var format: Format?

    @Flag(help: "A voice says to all that they are recorded.")
    var announce = false

    @Flag(help: "All hear a short tone every 15 s as long as they are recorded.")
    var tone = false

    @Flag(help: "Of a conference: each participant is recorded apart as well.")
    var tracks = false

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.recordingStart(
          subject.place(common), format: format?.rawValue, isAnnounced: announce, hasTone: tone, hasTracks: tracks)
      }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Let silence take the place of what is said, as for the number of a card.",
      discussion: "landline recording pause last")

    @OptionGroup var subject: RecordingSubject
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.recordingPause(subject.place(common), true) }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Go on with a recording that is paused.", discussion: "landline recording resume last")

    @OptionGroup var subject: RecordingSubject
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.recordingPause(subject.place(common), false) }
    }
  }

  struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End a recording; the call or the conference goes on.", discussion: "landline recording stop last")

    @OptionGroup var subject: RecordingSubject
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.recordingStop(subject.place(common)) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Recordings, newest first.",
      discussion: """
        landline recording list
        landline recording list --call last --json
        """)

    @Option(help: "Only of this call: its id, the beginning of one, or last.")
    var call: String?

    @Option(help: "Only of this account.")
    var account: String?

    @Option(help: "Most rows, 1 to 1000.")
    var limit = 50

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.recordingList(common.recordings, call: call, account: account, limit: limit)
      }
    }
  }

  struct Save: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write the sound of a recording to a file, decrypted.",
      discussion: "landline recording save 0191a5b2-7c1d-7f3e-9a44-0c5d2e8f1b60 hello.opus")

    @Argument(help: "Its id, as landline recording list tells it.")
    var id: String

    @Argument(help: "The file (default: named by the id, in the working folder).")
    var file: String?

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.recordingSave(id, to: file, common.recordings) }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Delete a recording that is over, with its sound.",
      discussion: "landline recording delete 0191a5b2-7c1d-7f3e-9a44-0c5d2e8f1b60")

    @Argument(help: "Its id, as landline recording list tells it.")
    var id: String

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.recordingDelete(id, common.recordings) }
    }
  }
}
