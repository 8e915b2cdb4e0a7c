import Foundation
import Glibc
import Synchronization

/// A clock that runs while a test listens, and knows how late everybody with a part in it was: each program that tests have
/// started, with its children; this process with the gateway in it; the machine; and each peer that keeps a clock of its own
/// (``PythonPeer``).
///
/// How long a thread that had work was kept waiting for a processor is what Linux counts for it (`run_delay`, the second
/// number of proc(5) `schedstat`).
public final class Listening: Sendable {
  private static let tickNanoseconds: Int64 = 10_000_000
  private static let ticksBetweenLooks = 10
  /// Less than this in a tenth of a second is the system's ordinary way.
  private static let leastMilliseconds = 10.0

  private struct State {
    var isOver = false
    var lateness: [String: Lateness] = [:]
  }

  private let begin = Monotonic.now
  private let state = Mutex(State())
  /// Taken by the thread until it has ended.
  private let end = DispatchGroup()

  /// What somebody heard, who was late meanwhile, and how many seconds it took.
  public struct Result<Value: Sendable>: Sendable {
    public let value: Value
    public let lateness: [Lateness]
    public let seconds: Double
  }

  /// Runs the clock while `body` listens.
  public static func during<Value: Sendable>(_ body: () async throws -> Value) async throws -> Result<Value> {
    let listening = Listening()
    do {
      let value = try await body()
      return Result(value: value, lateness: await listening.stop(), seconds: Monotonic.now - listening.begin)
    } catch {
      _ = await listening.stop()
      throw error
    }
  }

  private init() {
    end.enter()
    let thread = Thread { [self] in
      run()
      end.leave()
    }
    thread.name = "listening"
    thread.start()
  }

  /// Stops the clock.
  /// - Returns: who was late at all, the worst first.
  private func stop() async -> [Lateness] {
    state.withLock { $0.isOver = true }
    await withCheckedContinuation { continuation in
      end.notify(queue: .global()) { continuation.resume() }
    }
    let own = PythonPeer.lateness(from: begin)
    return (state.withLock { Array($0.lateness.values) } + own).sorted { $0.worstMilliseconds > $1.worstMilliseconds }
  }

  private func countDelay(of who: String, milliseconds: Double) {
    guard milliseconds >= Self.leastMilliseconds else { return }
    state.withLock { state in
      var entry = state.lateness[who] ?? Lateness(who, worstMilliseconds: 0, totalMilliseconds: 0)
      entry.worstMilliseconds = max(entry.worstMilliseconds, milliseconds)
      entry.totalMilliseconds += milliseconds
      state.lateness[who] = entry
    }
  }

  private func run() {
    var waited = WaitedTimes()
    var tick = 0
    var worst = 0.0
    while !state.withLock({ $0.isOver }) {
      let before = Monotonic.nanoseconds
      var pause = timespec(tv_sec: 0, tv_nsec: Int(Self.tickNanoseconds))
      nanosleep(&pause, nil)
      worst = max(worst, Double(Monotonic.nanoseconds - before - Self.tickNanoseconds) / 1e6)
      tick += 1
      guard tick % Self.ticksBetweenLooks == 0 else { continue }
      countDelay(of: "this machine", milliseconds: worst)
      worst = 0
      for (who, milliseconds) in waited.look() { countDelay(of: who, milliseconds: milliseconds) }
    }
  }
}

/// The clock that Python calls `time.monotonic()`.
enum Monotonic {
  static var nanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
  /// Seconds.
  static var now: Double { Double(nanoseconds) / 1e9 }
}

/// How long the threads of the programs that run were kept from a processor, from one look to the next.
private struct WaitedTimes {
  /// Nanoseconds of each thread so far, by its place in proc(5).
  private var known: [String: Double] = [:]

  /// The most that one thread of each program waited since the last look, in milliseconds.
  mutating func look() -> [String: Double] {
    var worst: [String: Double] = [:]
    func look(at process: String, of who: String, withChildren: Bool) {
      for thread in Self.names("/proc/\(process)/task") {
        let place = "/proc/\(process)/task/\(thread)"
        let cells = SystemTable.text("\(place)/schedstat").split(separator: " ")
        guard cells.count > 1, let time = Double(cells[1]) else { continue }
        // A thread that was not seen before may be old: the system leaves some out while others end.
        if let before = known.updateValue(time, forKey: place) {
          worst[who] = max(worst[who] ?? 0, (time - before) / 1e6)
        }
        guard withChildren else { continue }
        for child in SystemTable.text("\(place)/children").split(separator: " ") {
          look(at: String(child), of: who, withChildren: true)
        }
      }
    }
    look(at: "self", of: "the gateway's process", withChildren: false)
    for (process, who) in PeerProcess.running { look(at: String(process), of: who, withChildren: true) }
    return worst
  }

  private static func names(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}
