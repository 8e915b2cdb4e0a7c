import ArgumentParser
import LandlineArguments
import LandlineConsole
import SimulationKit

/// `landline-lab simulate relay --listen HOST:PORT --to HOST:PORT`.
struct SimulateRelayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "A bad network between two UDP programs: delay, jitter, loss, order, doubles, damage.",
    discussion: """
      Datagrams that arrive at --listen go on to --to, each sender's from a port of its own, and answers go back, both
      ways over a network that the options describe. Ends after --duration, or when interrupted, and tells what became
      of the datagrams.

      With --commands it reads lines of standard input, and the network changes as each says: names and values of these
      options, for both ways or behind `forth` or `back` for one ("loss 100", "back rate 25 queue 20"; rate 0 is no
      limit); `rebind` gives each client another port towards --to, as a router does that forgot it.

      landline-lab simulate relay --listen 127.0.0.1:4000 --to 127.0.0.1:5004 --delay 40 --jitter 20 --loss 5 --burst 3
      """)

  @Option(help: "Where to listen; port 0 takes a free one.")
  var listen: String

  @Option(help: "Where datagrams go.")
  var to: String

  @Option(help: "Milliseconds that every datagram takes.")
  var delay = 0.0

  @Option(help: "Most milliseconds on top; alone, this changes no order.")
  var jitter = 0.0

  @Option(help: "Datagrams in a hundred that are lost.")
  var loss = 0.0

  @Option(help: "Mean length of a run of losses.")
  var burst = 1.0

  @Option(help: "Datagrams in a hundred that later ones may overtake, 50 ms late.")
  var reorder = 0.0

  @Option(help: "Datagrams in a hundred that arrive twice.")
  var duplicate = 0.0

  @Option(help: "Datagrams in a hundred of which some bits are turned.")
  var corrupt = 0.0

  @Option(help: "Kilobits a second that get through (default: any).")
  var rate: Double?

  @Option(help: "Datagrams that wait for the rate; further ones are dropped.")
  var queue = ImpairmentOptions.perfect.queue

  @Option(help: "Bytes of headers that count against the rate with each datagram: 28 for IPv4 and UDP.")
  var headers = 0

  @Option(help: "The same seed gives the same datagrams the same fate.")
  var seed: UInt64 = 1

  @Option(help: "Seconds until it ends by itself.")
  var duration: Double?

  @Flag(help: "Changes of the network are read from standard input, a line each.")
  var commands = false

  @OptionGroup(title: "Common")
  var common: CommonOptions

  func run() async throws {
    var options = RelayOptions(listen: listen, target: to)
    options.path.delay = delay
    options.path.jitter = jitter
    options.path.loss = loss
    options.path.burst = burst
    options.path.reorder = reorder
    options.path.duplicate = duplicate
    options.path.corrupt = corrupt
    options.path.rate = rate
    options.path.queue = Double(queue)
    options.path.headers = Double(headers)
    options.readsCommands = commands
    options.seed = seed
    options.duration = duration
    let asked = options
    try await common.console { try $0.relay(asked) }
  }
}
