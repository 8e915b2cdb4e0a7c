import Foundation

/// What the kernel tells of another process.
enum ProcessFigures {
  /// KiB of proportional set size (proc(5), smaps_rollup).
  static func proportionalKibibytes(_ process: Int32) throws(BenchProblem) -> Int {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Pss:") }),
      let value = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { throw BenchProblem("the memory of process \(process) cannot be read") }
    return value
  }

  /// Clock ticks of user and system time so far (proc(5), stat fields 14 and 15).
  static func processorTicks(_ process: Int32) throws(BenchProblem) -> Int {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let bracket = stat.lastIndex(of: ")")
    else { throw BenchProblem("process \(process) has ended") }
    let fields = stat[stat.index(after: bracket)...].split(separator: " ")
    guard fields.count > 12 else { throw BenchProblem("the time of process \(process) cannot be read") }
    return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
  }

  /// The path of this program.
  static func ownExecutable() throws(BenchProblem) -> String {
    do {
      return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    } catch {
      throw BenchProblem("this program does not find itself: \(error.localizedDescription)")
    }
  }
}
