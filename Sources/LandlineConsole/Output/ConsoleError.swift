package import CallModel
package import LedgerCore
import LedgerSQLite

/// A failure as the command line shows it: `PROGRAM: WHAT (WHERE)`, then `fix: …` where a fix is known.
package struct ConsoleError: Error, Hashable, Sendable {
  package var status: ExitStatus
  /// Stable name: `unknownAccount`, `amount.scale`, `missing`.
  package var code: String
  package var what: String
  /// The argument, account or file at fault.
  package var place: String?
  package var fix: String?
  /// For several faults that are mended one by one: what is to be done besides ``fix``.
  package private(set) var furtherFixes: [String] = []
  /// The key of the write at fault.
  package var key: String?
  /// The answer was given before under the same key; `nil` where no keyed write is concerned.
  package var isReplay: Bool?
  /// One line for each of several faults, such as those of a file.
  package var details: [String] = []

  package init(
    _ status: ExitStatus, code: String, _ what: String, at place: String? = nil, fix: String? = nil,
    key: String? = nil, isReplay: Bool? = nil
  ) {
    self.status = status
    self.code = code
    self.what = what
    self.place = place
    self.fix = fix
    self.key = key
    self.isReplay = isReplay
  }

  /// Most fixes that are told of one failure.
  private static let maximumFixes = 20

  /// One fix for each of several faults; the same one once.
  package mutating func setFixes(_ fixes: [String]) {
    var told: Set<String> = []
    let once = fixes.filter { told.insert($0).inserted }.prefix(ConsoleError.maximumFixes)
    fix = once.first
    furtherFixes = Array(once.dropFirst())
  }

  /// A command line that does not say what is needed.
  package static func usage(
    _ code: String, _ what: String, at place: String? = nil, fix: String? = nil
  ) -> ConsoleError {
    ConsoleError(.usage, code: code, what, at: place, fix: fix)
  }

  /// - Parameter argument: the option or argument that carried the value, such as `--from` or `AMOUNT`.
  package init(_ invalid: InvalidValue, in argument: String) {
    let place = invalid.offset.map { ", character \($0 + 1)" } ?? ""
    self.init(
      .usage, code: invalid.rule, "\(invalid.kind): \(invalid.problem)", at: argument + place, fix: invalid.accepted)
  }

  package init(_ unavailable: LedgerUnavailable, at path: String, key: String? = nil) {
    let fix: String? =
      switch unavailable.cause {
      case .missing: ConsoleError.createFirst
      case .busy, .overloaded:
        key.map { "repeat the command with --key \($0): it cannot take effect twice" } ?? "repeat the command"
      case .full: "free some disk space, then repeat the command"
      case .newer: "use the landline that made the file, or a newer one"
      case .corrupt: "landline verify --full"
      case .notPermitted: "run as the user that owns the file"
      case .inputOutput, .closed: nil
      }
    let status: ExitStatus =
      switch unavailable.cause {
      case .corrupt: .booksBroken
      case .notPermitted: .notPermitted
      case .missing, .busy, .full, .inputOutput, .newer, .overloaded, .closed: .databaseUnavailable
      }
    self.init(status, code: unavailable.cause.rawValue, unavailable.problem, at: path, fix: fix, key: key)
  }

  static let createFirst = "landline account create NAME --currency EUR"
}

extension ConsoleError {
  /// Any error as one that can be shown.
  package init(any error: any Error, path: String) {
    switch error {
    case let error as ConsoleError: self = error
    case let error as InvalidValue: self.init(error, in: error.kind)
    case let error as LedgerUnavailable: self.init(error, at: path)
    case let error as RateStoreRefusal: self.init(error)
    case let error as LedgerFault: self.init(.booksBroken, code: "fault", error.description, at: path)
    default: self.init(.failed, code: "internal", ErrorText.text(error))
    }
  }

  /// A refusal by the store of decks, plans and deny ranges.
  private init(_ refusal: RateStoreRefusal) {
    let (status, code, fix): (ExitStatus, String, String?) =
      switch refusal {
      case .unknownDeck: (.notFound, "unknownDeck", "landline deck list")
      case .deckExists: (.conflict, "deckExists", "landline deck list")
      case .noActiveVersion: (.refused, "noActiveVersion", "landline deck activate NAME@VERSION")
      case .noMatchingRow: (.notFound, "noRate", nil)
      case .unknownPlan: (.notFound, "unknownPlan", "landline plan list")
      case .planExists: (.conflict, "planExists", "landline plan set NAME DECK to change it")
      case .planInUse: (.refused, "planInUse", "landline account set-plan ACCOUNT none")
      case .currencyMismatch: (.refused, "currencyMismatch", "decks, plans and accounts of one currency")
      case .unknownDenyRange: (.notFound, "unknownDenyRange", "landline deny list")
      case .invalid(let value): (.usage, value.rule, value.accepted)
      }
    var what = refusal.description
    if case .invalid(let value) = refusal { what = "\(value.kind): \(value.problem)" }
    self.init(status, code: code, what, fix: fix)
  }

  /// A refusal by the ledger, with what to do about it.
  init(_ refusal: LedgerRefusal, account: String, key: String?, isReplay: Bool?) {
    let status: ExitStatus =
      switch refusal {
      case .unknownAccount, .unknownCall, .unknownTransfer: .notFound
      case .accountExists, .conflict, .alreadyResolved, .staleEpoch: .conflict
      default: .refused
      }
    let fix: String? =
      switch refusal {
      case .unknownAccount: "landline account list"
      case .unknownTransfer: "landline history \(account)"
      case .accountExists: "landline account show \(account)"
      case .conflict: "choose a new --key for a new request"
      case .amountTooLarge:
        "a smaller amount; or --largest AMOUNT, with a new --key, where as much is meant (without it largest-amount of "
          + "the environment, else \(MoneyMovement.standardLargest.count / Credits.microsPerUnit))"
      case .counterAccountFull: "another --method; landline balance --all shows which account is full"
      case .accountLocked: "landline account unlock \(account)"
      case .belowFloor, .insufficientCredit: "landline topup \(account) AMOUNT"
      case .currencyMismatch: "landline account show \(account)"
      default: nil
      }
    self.init(
      status, code: refusal.rawValue, refusal.explanation, at: account, fix: fix, key: key, isReplay: isReplay)
  }

  var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("code", .string(code)), ("exit", .integer(Int64(status.rawValue))), ("message", .string(what)),
      ("where", place.map { .string($0) } ?? .null), ("fix", fix.map { .string($0) } ?? .null),
    ]
    if let key { members.append(("key", .string(key))) }
    if let isReplay { members.append(("replayed", .boolean(isReplay))) }
    if !furtherFixes.isEmpty {
      members.append(("fixes", .array(([fix].compactMap { $0 } + furtherFixes).map { .string($0) })))
    }
    if !details.isEmpty { members.append(("details", .array(details.map { .string($0) }))) }
    return .members([("error", .members(members))])
  }

  /// - Parameter program: who says so.
  func text(from program: String) -> String {
    let place = self.place.map { " (\($0))" } ?? ""
    let replay = isReplay == true ? "\nreplayed: this key was answered so before" : ""
    let faults = details.map { "\n\($0)" }.joined()
    let fixes = ([fix].compactMap { $0 } + furtherFixes).map { "\nfix: \($0)" }.joined()
    return "\(program): \(what)\(place)\(faults)\(replay)\(fixes)"
  }
}
