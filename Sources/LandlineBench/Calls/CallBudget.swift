import Foundation

/// What a call may make the gateway do, and what it did: counted from outside, per call.
enum CallBudget {
  /// Something that is counted.
  struct Line: Sendable {
    /// With its unit.
    let name: String
    /// Events of the kernel whose sum it is.
    let events: [String]
    /// Most for each call; `nil` where it is only shown.
    let limit: Double?
  }

  static let lines = [
    Line(name: "system calls", events: ["raw_syscalls/sys_enter"], limit: 70),
    Line(name: "context switches", events: ["switches"], limit: 12),
    Line(name: "flushes of a file", events: ["syscalls/sys_enter_fdatasync", "syscalls/sys_enter_fsync"], limit: 2),
    Line(
      name: "page and frame writes", events: ["syscalls/sys_enter_pwrite64", "syscalls/sys_enter_pwritev"], limit: 16),
    Line(name: "threads woken", events: ["sched/sched_waking"], limit: nil),
  ]
  static let allocations = Line(name: "allocations", events: [], limit: 400)
  static let written = Line(name: "KiB written to the disk", events: [], limit: nil)

  static let all = lines + [allocations, written]
}

/// Counts what one gateway does while a load runs.
final class CallCounters {
  /// The programs that count; `nil` where there is no compiler.
  struct Tools {
    let allocations: String?
    let events: String?

    init(in folder: String) {
      allocations = CountingPrograms.buildAllocations(in: folder)
      events = CountingPrograms.build("events", CountingPrograms.events, in: folder)
    }
  }

  /// Per call: by the name of a ``CallBudget/Line``, and microseconds by the name of a thread.
  typealias Counts = (events: [String: Double], threads: [String: Double])

  private let process: Int32
  private let allocations: AllocationCounter?
  private let events: EventCounter?
  private let before: (allocations: Int, written: Int?, threads: [String: Int])

  init(_ gateway: BenchGateway, _ tools: Tools) throws(BenchProblem) {
    process = gateway.processIdentifier
    allocations = gateway.allocations
    events = try tools.events.map { program throws(BenchProblem) in
      try EventCounter(program: program, process: gateway.processIdentifier, events: CallBudget.lines.flatMap(\.events))
    }
    before = (
      gateway.allocations?.count ?? 0, ProcessFigures.writtenBytes(process), ProcessFigures.threadNanoseconds(process)
    )
  }

  func finish(calls: Int) -> Counts {
    var sums: [String: Double] = [:]
    if let counted = events?.finish() {
      for line in CallBudget.lines {
        let known = line.events.compactMap { counted[$0] }
        if known.count == line.events.count { sums[line.name] = Double(known.reduce(0, +)) }
      }
    }
    if let allocations { sums[CallBudget.allocations.name] = Double(allocations.count - before.allocations) }
    if let now = ProcessFigures.writtenBytes(process), let then = before.written {
      sums[CallBudget.written.name] = Double(now - then) / 1024
    }
    let threads = ProcessFigures.threadNanoseconds(process).map { name, nanoseconds in
      (name, Double(nanoseconds - (before.threads[name] ?? 0)) / 1000 / Double(calls))
    }
    return (sums.mapValues { $0 / Double(calls) }, Dictionary(uniqueKeysWithValues: threads).filter { $0.value >= 1 })
  }
}
