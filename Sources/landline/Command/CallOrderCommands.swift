import ArgumentParser
import LandlineArguments
import LandlineConsole

/// Which side of which call.
struct CallSideOptions: ParsableArguments {
  enum Side: String, ExpressibleByArgument, CaseIterable { case caller, called }

  @Argument(help: "The call's id, the beginning of one, or last.")
  var id: String

  @Argument(help: "caller or called.")
  var side: Side

  func place(_ common: CommonOptions) -> CallPlace {
    CallPlace(
      call: id, side: side.rawValue, control: common.gateway.control, environment: common.gateway.environment)
  }
}

extension CallsCommand {
  struct Press: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "press", abstract: "Press keys towards a side of a live call.",
      discussion: "landline calls press last called 12#")

    @OptionGroup var side: CallSideOptions

    @Argument(help: "0-9, *, #, A-D.")
    var digits: String

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.callsPress(side.place(common), digits) }
    }
  }

  struct Mute: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "mute", abstract: "Let nobody hear a side of a live call, whatever its app says.",
      discussion: """
        landline calls mute last caller
        landline calls mute last caller --off
        """)

    @OptionGroup var side: CallSideOptions

    @Flag(help: "Take it back.")
    var off = false

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.callsChange(side.place(common), isMuted: !off) }
    }
  }

  struct Hold: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "hold", abstract: "Have a side of a live call wait with a quiet tone.",
      discussion: """
        landline calls hold last called
        landline calls hold last called --off
        """)

    @OptionGroup var side: CallSideOptions

    @Flag(help: "Take it back.")
    var off = false

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.callsChange(side.place(common), isOnHold: !off) }
    }
  }

  struct Transfer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "transfer", abstract: "Have a side of a live call leave, and the other one talk with somebody else.",
      discussion: """
        landline calls transfer last called +46701234567
        landline calls transfer last caller user:bob

        The side leaves when they answer; where nobody does, the two talk with each other again.
        """)

    @OptionGroup var side: CallSideOptions

    @Argument(help: "+46701234567, sip:alice@example.com or user:bob.")
    var target: String

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console { try await $0.callsTransfer(side.place(common), to: target) }
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Call somebody who talks with the two of a live call once they answer.",
      discussion: """
        landline calls add last +46701234567
        landline calls add last user:bob --muted

        They have a call of their own, paid by the call's account or the one that is named, which ends with the call. To take
        them out, hang up that call; to let those be heard who came in muted, unmute its called side.
        """)

    @Argument(help: "The call's id, the beginning of one, or last.")
    var id: String

    @OptionGroup var participant: ParticipantArguments

    @OptionGroup(title: "Common") var common: CommonOptions

    func run() async throws {
      try await common.console {
        try await $0.callsAdd(
          id, participant.options, control: common.gateway.control, environment: common.gateway.environment)
      }
    }
  }
}

/// Who is added to a conference or a call.
struct ParticipantArguments: ParsableArguments {
  @Argument(help: "+46701234567, sip:alice@example.com or user:bob.")
  var target: String

  @Option(help: "Who pays (default: the account of the application or the call).")
  var account: String?

  @Option(help: "The number to show, in E.164.")
  var from: String?

  @Flag(help: "Nobody hears them until they are unmuted.")
  var muted = false

  @Option(help: "Makes the command repeatable: the same key and content take effect once.")
  var key: String?

  var options: ParticipantOptions {
    var options = ParticipantOptions(target: target)
    options.account = account
    options.callerNumber = from
    options.isMuted = muted
    options.key = key
    return options
  }
}
