import ArgumentParser
import LandlineArguments
import LandlineConsole

/// What is to be said.
struct SayingWords: ParsableArguments {
  @Argument(help: "What a voice says, where an engine is installed.")
  var text: String?

  @Option(help: "In its place: a file of the environment's folder of sounds, without its ending.")
  var sound: String?

  @Flag(help: "End what is said.")
  var stop = false

  func validate() throws {
    guard [text != nil, sound != nil, stop].filter(\.self).count == 1 else {
      throw ValidationError("one of a text, --sound and --stop is wanted")
    }
  }

  var options: SayingOptions { SayingOptions(text: text, sound: sound) }
}

extension CallsCommand {
  struct Say: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "say", abstract: "Have something said in a live call, in place of the other side or beneath it.",
      discussion: """
        landline calls say last 'You are being put through.'
        landline calls say last --sound greeting --side called
        landline calls say last --sound music --beneath
        landline calls say last --stop
        """)

    @Argument(help: "The call's id, the beginning of one, or last.")
    var id: String

    @OptionGroup var words: SayingWords

    @Option(help: "caller or called (default: both).")
    var side: CallSideOptions.Side?

    @Flag(help: "Both sides hear it together with each other's words.")
    var beneath = false

    @OptionGroup(title: "Common") var common: CommonOptions

    func validate() throws {
      guard !beneath || side == nil else { throw ValidationError("--beneath is for both sides: leave --side out") }
    }

    func run() async throws {
      try await common.console {
        try await $0.callsSay(
          id, to: side?.rawValue, beneath: beneath, words.options, control: common.gateway.control,
          environment: common.gateway.environment)
      }
    }
  }
}

extension ConferenceCommand {
  struct Say: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "say", abstract: "Have something said to all who are in a conference, together with what they say.",
      discussion: """
        landline conference say weekly 'Five minutes are left.'
        landline conference say weekly --sound jingle
        landline conference say weekly --stop
        """)

    @OptionGroup var conference: ConferenceOptions
    @OptionGroup var words: SayingWords
    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.conferenceSay(conference.place(common), words.options) }
    }
  }
}
