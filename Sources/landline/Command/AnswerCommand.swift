import ArgumentParser
import LandlineArguments
import LandlineConsole

struct AnswerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "answer", abstract: "Answer calls for a user on this machine, as an app would.",
    discussion: """
      landline answer --user bob
      landline answer --user bob --device tablet --ring 2s --play hello.wav --record heard.wav --for 10s
      landline answer --user bob --decline --calls 1

      Another terminal calls with landline call user:bob. Prints that it listens, then who calls, what happens with its
      milliseconds, and how each call ended: here, on another device, or given up. Runs until it is interrupted (exit 130)
      or until --calls of them are over: exit 0 when all went as asked, 10 when one was missed, taken elsewhere or failed;
      4 when the app is refused, 11 when no gateway answers.
      """)

  @Flag(help: "Decline each call, on all devices of the user.")
  var decline = false

  @Flag(help: "Decline each call as busy.")
  var busy = false

  @Option(help: "Let it ring this long before: 500ms, 2s (default: not at all).")
  var ring: String?

  @Option(name: .customLong("for"), help: "Hang up this long after the answer: 500ms, 10s, 5m.")
  var duration: String?

  @Option(name: .customLong("header"), help: "A header for whoever calls, as 'desk: 7'; may stand several times.")
  var headers: [String] = []

  @Option(
    help: "A WAV file to play to whoever calls: 16 bits, mono or stereo, 8 to 192 kHz.",
    completion: .file(extensions: ["wav"]))
  var play: String?

  @Flag(name: .customLong("loop"), help: "Play it again and again.")
  var loops = false

  @Option(
    help: "A WAV file to write the first call to; FILE-2 and so on for those after it.",
    completion: .file(extensions: ["wav"]))
  var record: String?

  @Option(help: "End after so many calls.")
  var calls: Int?

  @OptionGroup(title: "App")
  var app: AppArguments

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func validate() throws {
    guard !(decline && busy) else { throw ValidationError("--decline and --busy are two ways of one: choose one") }
    guard calls.map({ $0 > 0 }) ?? true else { throw ValidationError("--calls: 1 or more") }
  }

  func run() async throws {
    var options = AnswerOptions()
    options.app = app.options
    options.deed = decline ? .decline : busy ? .busy : .answer
    options.ring = ring
    options.duration = duration
    options.headers = headers
    options.play = play
    options.playsForever = loops
    options.record = record
    options.calls = calls
    try await common.console { try await $0.answer(options) }
  }
}
