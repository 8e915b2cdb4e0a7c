import Foundation
import LandlineArguments
import LandlineConsole

@main
enum LandlineLabMain {
  static func main() async {
    // An interrupt ends the process at once, with the status that scripts expect.
    signal(SIGINT) { _ in
      let text: StaticString = "landline-lab: interrupted\n"
      _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
      _exit(ExitStatus.interrupted.rawValue)
    }
    await CommandLineProgram.run(LandlineLab.self)
  }
}
