import ArgumentParser
import LandlineArguments
import LandlineConsole

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call", abstract: "Call from this machine through a gateway, as an app would.",
    discussion: """
      landline call +46000000000
      landline call +46701234567 --header 'x-order: 4711' --play hello.wav --record answer.wav --for 10s
      landline call sip:alice@example.com
      landline call user:bob --user alice
      landline call +46000000486 --expect-sip 486
      landline call --inbound +46850000536 --from +46701111111 --for 3s

      Prints what happens with its milliseconds, then quality and cost. Exit 0 when the call went as expected, 10 when it
      failed on the way, 4 when it was refused, 11 when no gateway answers, 12 when it took too long.

      With --inbound the gateway's built-in far end calls one of its numbers, as a carrier would: where sandbox-numbers is
      on, as under landline dev. --from anonymous withholds the caller's number.
      """)

  @Argument(help: "+NUMBER, a user, or tel:, sip:, sips:, user: or conf: with what it is for.")
  var target: String?

  @Option(help: "Have the built-in far end call this number of the gateway's, in place of a target.")
  var inbound: String?

  @Option(name: .customLong("header"), help: "A custom header, as 'x-order: 4711'; may stand several times.")
  var headers: [String] = []

  @Option(
    help: "A WAV file to play to the other side: 16 bits, mono or stereo, 8 to 192 kHz.",
    completion: .file(extensions: ["wav"]))
  var play: String?

  @Flag(name: .customLong("loop"), help: "Play it again and again.")
  var loops = false

  @Option(help: "A WAV file to write what is heard to.", completion: .file(extensions: ["wav"]))
  var record: String?

  @Option(help: "Keys to press once the call is up: 0-9, *, #, A-D.")
  var keys: String?

  @Option(name: .customLong("expect-sip"), help: "The call is to fail with this SIP status: exit 0 if it does.")
  var expectSIP: Int?

  @Option(name: .customLong("for"), help: "Hang up this long after the answer: 500ms, 10s, 5m.")
  var duration: String?

  @Option(
    name: .customLong("from"),
    help: "The number to show (default: the application's first; with --inbound +46701111111).")
  var caller: String?

  @OptionGroup(title: "App")
  var app: AppArguments

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func validate() throws {
    guard (target == nil) != (inbound == nil) else {
      throw ValidationError("One of TARGET and --inbound NUMBER is needed.")
    }
    guard inbound == nil || (headers.isEmpty && play == nil && !loops && keys == nil) else {
      throw ValidationError("--header, --play, --loop and --keys are for calls of an app, not for --inbound.")
    }
  }

  func run() async throws {
    if let inbound {
      var options = InboundCallOptions(number: inbound)
      options.caller = caller
      options.duration = duration
      options.record = record
      options.expectSIP = expectSIP
      options.control = common.gateway.control
      options.environment = common.gateway.environment
      return try await common.console { try await $0.callInbound(options) }
    }
    var options = CallOptions(target: target ?? "")
    options.headers = headers
    options.play = play
    options.playsForever = loops
    options.record = record
    options.keys = keys
    options.expectSIP = expectSIP
    options.duration = duration
    options.caller = caller
    options.app = app.options
    try await common.console { try await $0.call(options) }
  }
}
