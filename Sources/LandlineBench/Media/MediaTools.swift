import Foundation

/// Programs of others that the media benchmark measures with, and the speech they speak: made for one run, in a folder of
/// its own.
struct MediaTools {
  /// The least a gateway can do: the yardstick.
  let floor: String
  /// Drives calls through any gateway.
  let generator: String
  /// Plays everybody in conferences.
  let participants: String
  /// Counts a process's allocations, loaded into it beforehand; `nil` where it cannot be built.
  let allocationCounter: String?
  /// Counts a process's instructions; `nil` where it cannot be built.
  let instructionCounter: String?
  /// 16 bits, mono: 48 and 8 kHz without a header, and whatever rate the speaker has as WAV.
  let speech48: String
  let speech8: String
  let speechFile: String
  let folder: String

  private static let text = """
    The switchboard opened its doors on a cold morning in March. Every line had a small brass label, and every label had
    a story that the operators knew by heart. When a lamp began to glow, somebody reached for the cord, asked for the
    number, and waited for the other side to answer. Most of the calls were short. A farmer wanted the price of wheat, a
    doctor asked for the pharmacy, a mother wanted to hear that the train had arrived.
    """

  /// - Parameters:
  ///   - sources: folder with floor.c and rtpgen.c.
  ///   - folder: where everything is made.
  init(sources: String, folder: String) throws(BenchProblem) {
    let folders = ["/usr/include", "/usr/local/include"]
    let absence = MediaPackages.absence(
      hasProgram: PeerProgram.exists,
      hasHeader: { header in folders.contains { access("\($0)/\(header)", R_OK) == 0 } })
    var problems = absence.map { [$0] } ?? []
    let missing = ["floor.c", "rtpgen.c"].filter { access("\(sources)/\($0)", R_OK) != 0 }
    if !missing.isEmpty {
      problems.append("\(missing.joined(separator: " and ")) not in \(sources): name the folder with --perf-tools")
    }
    guard problems.isEmpty else { throw BenchProblem(problems.joined(separator: "; ")) }
    self.folder = folder
    (floor, generator) = ("\(folder)/floor", "\(folder)/rtpgen")
    func build(_ program: String, _ source: String, _ arguments: [String]) throws(BenchProblem) {
      _ = try MediaTools.run("gcc", ["-O2", "-w", "-o", program, source] + arguments, in: folder)
    }
    try build(floor, "\(sources)/floor.c", ["-lopus", "-lcrypto", "-luring", "-lsrtp2", "-lm"])
    try build(generator, "\(sources)/rtpgen.c", ["-lopus", "-lsrtp2"])
    let libraries = ["-lopus", "-lm"]
    guard let conference = CountingPrograms.build("conference", ConferenceProgram.text, libraries, in: folder) else {
      throw BenchProblem("the participants of conferences cannot be built")
    }
    participants = conference
    allocationCounter = CountingPrograms.buildAllocations(in: folder)
    instructionCounter = CountingPrograms.build("instructions", CountingPrograms.instructions, in: folder)
    (speechFile, speech48, speech8) = ("\(folder)/speech.wav", "\(folder)/speech48.raw", "\(folder)/speech8.raw")
    _ = try MediaTools.run("espeak-ng", ["-v", "en", "-s", "150", "-w", speechFile, MediaTools.text], in: folder)
    for (rate, file) in [("48000", speech48), ("8000", speech8)] {
      _ = try MediaTools.run(
        "sox", [speechFile, "-r", rate, "-c", "1", "-b", "16", "-e", "signed", "-t", "raw", file], in: folder)
    }
  }

  /// Runs a program to its end.
  /// - Returns: what it said.
  static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], in folder: String
  ) throws(BenchProblem) -> String {
    let run = try Run(program, arguments, environment: environment, in: folder)
    return try run.finish()
  }

  /// A program that runs beside this one, its words kept in a file.
  final class Run {
    private let program: PeerProgram
    private let name: String
    private let file: String

    init(
      _ name: String, _ arguments: [String], environment: [String: String] = [:], in folder: String
    ) throws(BenchProblem) {
      self.name = name
      file = "\(folder)/said-\(UUID().uuidString)"
      let output = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      guard output >= 0 else { throw BenchProblem("\(file) cannot be made") }
      defer { close(output) }
      program = try PeerProgram(name, arguments, output: output, environment: environment)
    }

    func finish() throws(BenchProblem) -> String {
      let code = program.wait()
      let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      unlink(file)
      guard code == 0 else {
        let end = text.split(separator: "\n").suffix(3).joined(separator: " | ")
        throw BenchProblem("\(name.split(separator: "/").last ?? "") ended with \(code): \(end)")
      }
      return text
    }
  }
}
