public import CallModel

/// What a request led to.
public enum LedgerOutcome: Hashable, Sendable {
  /// An account was created or changed.
  case changed
  /// Money moved: the transfer's number, the signed effect on the named account, its balance after.
  case posted(transfer: Int64, amount: MicroUnits, balance: MicroUnits)
  /// A hold was made or extended: seconds from the answer in all, what is held in all. `isFinal`: no further second
  /// could be granted as things stand (RFC 8506 5.6, Final-Unit-Indication).
  case granted(seconds: Int64, amount: MicroUnits, isFinal: Bool)
  case answered
  /// A call was charged: what was billed, what it cost, the `call` transfer unless it cost nothing.
  case settled(milliseconds: Int64, billedSeconds: Int64, cost: MicroUnits, transfer: Int64?)
  case voided
  case refused(LedgerRefusal)
}

extension LedgerOutcome {
  /// Canonical text, as stored under the request's key.
  public var text: String {
    switch self {
    case .changed: "changed"
    case .posted(let transfer, let amount, let balance): "posted \(transfer) \(amount) \(balance)"
    case .granted(let seconds, let amount, let isFinal): "granted \(seconds) \(amount) \(isFinal ? "final" : "more")"
    case .answered: "answered"
    case .settled(let milliseconds, let billed, let cost, let transfer):
      "settled \(milliseconds) \(billed) \(cost) \(transfer.map { String($0) } ?? "-")"
    case .voided: "voided"
    case .refused(let refusal): "refused \(refusal.rawValue)"
    }
  }

  /// Reads ``text`` back; `nil` for anything else.
  public init?(parsing text: String) {
    let words = text.split(separator: " ")
    let numbers = words.dropFirst().map { Int64($0) }
    switch (words.first, words.count) {
    case ("changed", 1): self = .changed
    case ("answered", 1): self = .answered
    case ("voided", 1): self = .voided
    case ("posted", 4):
      guard let transfer = numbers[0], let amount = numbers[1], let balance = numbers[2] else { return nil }
      self = .posted(transfer: transfer, amount: MicroUnits(amount), balance: MicroUnits(balance))
    case ("granted", 4):
      guard let seconds = numbers[0], let amount = numbers[1], words[3] == "final" || words[3] == "more" else {
        return nil
      }
      self = .granted(seconds: seconds, amount: MicroUnits(amount), isFinal: words[3] == "final")
    case ("settled", 5):
      guard let milliseconds = numbers[0], let billed = numbers[1], let cost = numbers[2],
        words[4] == "-" || numbers[3] != nil
      else { return nil }
      self = .settled(
        milliseconds: milliseconds, billedSeconds: billed, cost: MicroUnits(cost), transfer: numbers[3])
    case ("refused", 2):
      guard let refusal = LedgerRefusal(rawValue: String(words[1])) else { return nil }
      self = .refused(refusal)
    default: return nil
    }
  }
}

/// The durable answer to one request.
public struct LedgerReceipt: Hashable, Sendable {
  /// Sequence number of the record; 0 when nothing was recorded.
  public let seq: Int64
  /// The answer was given before and is repeated here.
  public let isReplay: Bool
  /// What came of the request, a refusal included; with a ``seq`` above 0 every repeat gets the same.
  public let outcome: LedgerOutcome
  /// For ``LedgerRefusal/alreadyResolved``: how the call ended the first time.
  public let resolved: LedgerOutcome?

  /// `resolved` belongs to ``LedgerRefusal/alreadyResolved`` alone.
  public init(seq: Int64, isReplay: Bool, outcome: LedgerOutcome, resolved: LedgerOutcome? = nil) {
    self.seq = seq
    self.isReplay = isReplay
    self.outcome = outcome
    self.resolved = resolved
  }

  /// Why nothing was done; `nil` for every outcome that is no refusal.
  public var refusal: LedgerRefusal? {
    if case .refused(let refusal) = outcome { return refusal }
    return nil
  }
}

/// Why the store gave no answer. The request may or may not have been recorded: repeat it with the same key.
public struct LedgerUnavailable: Error, Hashable, Sendable, CustomStringConvertible {
  /// What stood in the way; the raw value is the code that commands print.
  public enum Cause: String, Hashable, Sendable {
    /// The store is not there, or is not a ledger.
    case missing
    /// Another process kept the database busy for too long.
    case busy
    /// The disk is full.
    case full
    /// The disk failed, or the file cannot be read or written.
    case inputOutput
    /// The file is damaged, or its rows contradict each other.
    case corrupt
    /// The file was made by a newer version.
    case newer
    /// More requests are queued than the named limit allows.
    case overloaded
    case closed
    /// The file or its folder may not be read or written by this user.
    case notPermitted
  }

  /// For programs: the exit code of a command follows from it.
  public let cause: Cause
  /// What happened and what to do, for an operator.
  public let problem: String

  /// `problem` is for an operator: what happened, where, and what to do.
  public init(_ cause: Cause, _ problem: String) {
    self.cause = cause
    self.problem = problem
  }

  /// ``problem`` alone, without the cause.
  public var description: String { problem }
}
