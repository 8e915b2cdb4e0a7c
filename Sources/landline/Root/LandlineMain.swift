import Foundation
import LandlineArguments
import LandlineConsole

@main
enum LandlineMain {
  static func main() async {
    endOnInterrupt()
    await CommandLineProgram.run(Landline.self) { failure, refused in
      if let number = refused.arguments.first(where: NegativeNumbers.isNumber), let word = refused.words.first,
        movesMoney.contains(word)
      {
        failure = ConsoleError.usage(
          "amount.positive", "amount: a negative amount moves nothing here", at: number,
          fix: "an amount above zero; landline adjust ACCOUNT \(number) --reason TEXT takes credit away")
      }
      if let unknown = refused.unknown, refused.words.isEmpty, ["simulate", "bench"].contains(unknown) {
        failure.fix = "landline-lab \(unknown)"
      }
    }
  }

  /// An interrupt ends the process at once, with the status that scripts expect. Whatever was not committed is not in
  /// the ledger, and an unfinished import is invisible.
  private static func endOnInterrupt() {
    signal(SIGINT) { _ in
      if !PendingKey.report() {
        let text: StaticString = "landline: interrupted\n"
        _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
      }
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Commands with an amount that is above zero.
  private static let movesMoney: Set<String> = ["topup", "opening", "refund", "chargeback", "transfer"]
}
