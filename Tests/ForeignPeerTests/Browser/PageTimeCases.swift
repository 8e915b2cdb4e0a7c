import Foundation
import PeerKit

/// How long a call from the phone page takes, beside Janus by the same script. `Deploy/bench-pages` holds the targets; a
/// test on a busy machine holds only what no machine excuses.
enum PageTimeCases {
  /// How often as long as Janus ours may take.
  private static let mostTimes = 3.0
  private static let runs = 5

  static let cases: [PeerCase] = [
    BrowserCase.make(
      "click to connected and to the first sound", expected: "both connect, ours within \(Int(mostTimes)) times Janus"
    ) { _, gateway, _ in
      guard let python = PythonPeer.python else { throw PeerFailure(PythonPeer.absence) }
      let folder = try TemporaryFolder("times")
      let key = try folder.write(BrowserPerson.owner.key, to: "key")
      let listened = try await Listening.during {
        try await PeerProcess.run(
          URL(fileURLWithPath: python),
          [
            PythonPeer.scripts.appendingPathComponent("pages_bench.py").path, "--json", "--runs", String(runs),
            "--port",
            String(gateway.httpPort), "--key-file", key.path,
          ], environment: ["HOME": folder.url.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"], startedIn: folder.url
        )
      }
      let result = listened.value
      try require(result.status == 0, "the script: \(result.diagnostics.lastLines(20))")
      let found = result.output.split(separator: "\n").compactMap { PythonEvent($0) }
      guard let ours = found.first(where: { $0.text("who") == "landline" }), let connected = ours.number("connected"),
        let sound = ours.number("sound")
      else { throw PeerFailure("no figures: \(result.output)") }
      let told = "connected \(Int(connected)) ms, heard \(Int(sound)) ms"
      guard let janus = found.first(where: { $0.text("who") == "janus" }), let theirs = janus.number("connected") else {
        try require(!PeerProgram.janus.isInstalled, "Janus was measured: \(result.output)")
        return "\(told); \(PeerProgram.janus.absence)"
      }
      let heard = janus.number("sound") ?? 0
      // Janus, in the same browser and the same minute, is the control.
      try ListeningCase.judge(
        Heard(
          [.init("times as long as Janus to connect", connected / theirs, 0...mostTimes)], lateness: listened.lateness,
          seconds: listened.seconds))
      return "\(told); Janus \(Int(theirs)) and \(Int(heard)) ms"
    }
  ]
}
