import Foundation

/// What a call costs in signalling: the whole way of an outgoing call through sockets, transactions and dialogs, beside
/// Kamailio relaying the same calls between the same programs in the same run.
///
/// SIPp plays the callee: INVITE, 100, 180, 200 with a session description, ACK, BYE, 200 over UDP on loopback.
public enum SIPBench {
  /// How much load, and with which programs.
  public struct Options: Sendable {
    /// Seconds of load at each rate.
    public var seconds = 10.0
    /// Calls a second, one trial each.
    public var rates = [400, 800, 1600, 2400]
    /// Calls a second through Kamailio: a quarter, half and three quarters of what it can on one core.
    public var kamailioRates = [400, 800, 1600]
    /// Transactions without an answer yet, beside which an exchange is timed; one trial each.
    public var liveTransactions = [1_000, 10_000, 40_000]
    /// Calls that are open at the same time while their memory is measured.
    public var dialogs = 10_000
    /// Runs of each hostile message; the fastest counts, since everything slower was the machine.
    public var hostileRounds = 5
    /// The program that plays the callee: a path, or a name that is looked for in `PATH` and `/usr/sbin`.
    public var sipp = "sipp"
    /// The program to compare with, found as ``sipp`` is.
    public var kamailio = "kamailio"
    /// Told before each part begins.
    public var progress: BenchProgress = { _ in }

    /// Ten seconds at each of four rates of calls, and at three through Kamailio.
    public init() {}
  }

  /// Whether SIPp and Kamailio are there.
  public static var peersAreInstalled: Bool { PeerProgram.exists("sipp") && PeerProgram.exists("kamailio") }

  /// A peer that is absent or does not start leaves its part out, with a note.
  public static func run(_ options: Options) async throws -> SIPBenchReport {
    guard options.seconds > 0, !options.rates.isEmpty, options.rates.allSatisfy({ (1...100_000).contains($0) }) else {
      throw BenchProblem("rates are 1 to 100000 calls a second, for more than 0 seconds")
    }
    var report = SIPBenchReport()
    options.progress("worst time of a hostile message")
    report.hostile = HostileShapes.measure(rounds: options.hostileRounds)
    options.progress("transactions, \(options.liveTransactions.map(String.init).joined(separator: ", ")) live")
    report.transactions = try options.liveTransactions.map { try TransactionScaling.measure(live: $0) }
    options.progress("memory of \(options.dialogs) dialogs")
    report.dialog = try DialogMemory.measure(dialogs: options.dialogs)
    guard PeerProgram.exists(options.sipp) else {
      report.notes.append("sipp is not installed: no calls were placed (apt-get install sip-tester)")
      return report
    }
    for rate in options.rates {
      options.progress("\(rate) calls a second for \(options.seconds) s")
      do {
        report.calls.append(try await CallLoad.measure(rate: rate, options))
      } catch let problem as BenchProblem {
        report.notes.append("\(rate) calls a second: \(problem)")
      }
    }
    guard PeerProgram.exists(options.kamailio) else {
      report.notes.append("kamailio is not installed: nothing to compare with (apt-get install kamailio)")
      return report
    }
    for rate in options.kamailioRates {
      options.progress("\(rate) calls a second through Kamailio")
      do {
        report.kamailio.append(try RelayLoad.measure(rate: rate, options))
      } catch let problem as BenchProblem {
        report.notes.append("\(rate) calls a second through Kamailio: \(problem)")
      }
    }
    return report
  }
}
