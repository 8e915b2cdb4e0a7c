import ArgumentParser
import LandlineConsole

/// Options of every command that writes.
struct WritingOptions: ParsableArguments {
  @Option(
    name: .customLong("key"), help: "Makes the command repeatable: the same key and content take effect once.")
  var key: String?

  @Flag(name: .customLong("dry-run"), help: "Say what would happen; write nothing.")
  var dryRun = false

  func options(confirmed: Bool = false) -> WriteOptions {
    WriteOptions(key: key, isDryRun: dryRun, isConfirmed: confirmed)
  }
}

/// `--from` and `--to`.
struct RangeOptions: ParsableArguments {
  @Option(
    name: .customLong("from"), parsing: .unconditional,
    help: "Start: RFC 3339, 2026-11, 2026-11-21, today, yesterday, or -7d for seven days before today.")
  var from: String?

  @Option(name: .customLong("to"), parsing: .unconditional, help: "End, itself not included: as --from, or now.")
  var to: String?
}

/// `--limit` and `--after`.
struct CursorOptions: ParsableArguments {
  @Option(name: .customLong("limit"), help: "Lines at most.")
  var limit = PageOptions.defaultLimit

  @Option(name: .customLong("after"), help: "Only what follows this sequence number.")
  var after: Int64?

  var page: PageOptions { PageOptions(limit: limit, after: after) }
}
