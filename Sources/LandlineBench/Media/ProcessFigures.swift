import Foundation

/// What the kernel tells of another process.
enum ProcessFigures {
  /// KiB of proportional set size (proc(5), smaps_rollup).
  static func proportionalKibibytes(_ process: Int32) throws(BenchProblem) -> Int {
    try kibibytes(["Pss"], process)[0]
  }

  /// KiB resident, and those of them that this process alone has and has written to (proc(5), smaps_rollup).
  static func residentKibibytes(_ process: Int32) throws(BenchProblem) -> (all: Int, own: Int) {
    let values = try kibibytes(["Rss", "Private_Dirty"], process)
    return (values[0], values[1])
  }

  private static func kibibytes(_ names: [String], _ process: Int32) throws(BenchProblem) -> [Int] {
    let lines = ((try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)) ?? "")
      .split(separator: "\n")
    let values = names.compactMap { name in
      lines.first { $0.hasPrefix("\(name):") }?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }
    guard values.count == names.count else { throw BenchProblem("the memory of process \(process) cannot be read") }
    return values
  }

  /// 0 once it has ended.
  static func threads(_ process: Int32) -> Int { entries("/proc/\(process)/task") }

  /// Open descriptors; 0 once it has ended.
  static func descriptors(_ process: Int32) -> Int { entries("/proc/\(process)/fd") }

  private static func entries(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder))?.count ?? 0
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

  /// Bytes that the process has sent to the disk so far (proc(5), io); `nil` where this user may not know.
  static func writtenBytes(_ process: Int32) -> Int? {
    let lines = ((try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)) ?? "").split(separator: "\n")
    return lines.first { $0.hasPrefix("write_bytes:") }?.split(separator: " ").last.flatMap { Int($0) }
  }

  /// Nanoseconds of processor time so far, by the name of a thread; threads of one name together (proc(5), schedstat).
  static func threadNanoseconds(_ process: Int32) -> [String: Int] {
    let folder = "/proc/\(process)/task"
    var times: [String: Int] = [:]
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let name = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8),
        let schedule = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8),
        let time = schedule.split(separator: " ").first.flatMap({ Int($0) })
      else { continue }
      times[name.trimmingCharacters(in: .whitespacesAndNewlines), default: 0] += time
    }
    return times
  }

  /// The path of `landline`, which is built into the same folder as this program.
  static func gatewayExecutable() throws(BenchProblem) -> String {
    URL(fileURLWithPath: try ownExecutable()).deletingLastPathComponent().appendingPathComponent("landline").path
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
