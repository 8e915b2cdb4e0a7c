import Foundation

/// Wall-clock and CPU time of this process at one moment, all threads together (clock_gettime(2)).
struct ProcessClock {
  /// Seconds on the monotonic clock.
  let wall: Double
  /// Seconds of user and system time.
  let cpu: Double

  static func now() -> ProcessClock {
    ProcessClock(wall: seconds(CLOCK_MONOTONIC), cpu: seconds(CLOCK_PROCESS_CPUTIME_ID))
  }

  static func monotonicSeconds() -> Double { seconds(CLOCK_MONOTONIC) }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Wall-clock and CPU seconds that some work took.
struct ProcessTime {
  var wall = 0.0
  var cpu = 0.0

  mutating func add(from start: ProcessClock, to end: ProcessClock) {
    wall += end.wall - start.wall
    cpu += end.cpu - start.cpu
  }
}

/// Memory of this process as the kernel counts it (proc(5), /proc/self/status).
enum ProcessMemory {
  /// Bytes resident now; `nil` where the kernel does not say.
  static func residentBytes() -> Int64? { kibibytes("VmRSS:").map { $0 * 1024 } }

  /// The most bytes ever resident.
  static func peakResidentBytes() -> Int64? { kibibytes("VmHWM:").map { $0 * 1024 } }

  /// Forgets the peak so far (proc(5), /proc/self/clear_refs).
  /// - Returns: bytes resident now, which the peak starts from; `nil` where the kernel cannot forget.
  static func startPeak() -> Int64? {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
    let isWritten = fputs("5", file) >= 0
    return fclose(file) == 0 && isWritten ? residentBytes() : nil
  }

  private static func kibibytes(_ field: String) -> Int64? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
    for line in status.split(separator: "\n") where line.hasPrefix(field) {
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
      return words.count >= 2 ? Int64(words[1]) : nil
    }
    return nil
  }
}
