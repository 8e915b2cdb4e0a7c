import AppProtocol
import CallEngine
import CallModel
import SIPCore

/// Whose credit calls use and at which prices, as last read from one ledger. What is known is used for a second without
/// asking again; a change made by any process on the ledger is seen after that. Whether an account may pay is the
/// ledger's to say, at the hold.
struct PayerCache {
  /// Who waits for a payer.
  enum Asker {
    case app(SessionID, RequestNumber, AppRequest)
    case origination(OriginationID, OriginateOrder)
    /// A call that a trunk sent us.
    case arrival(CallHandle)
  }

  /// How long an answer is used.
  static let freshMilliseconds: Int64 = 1000
  /// An answer that is used this close to its end is read anew meanwhile: while calls follow one another, none waits.
  static let renewalMilliseconds: Int64 = 500
  /// Most accounts that are remembered.
  static let maximumAccounts = 100_000
  /// Most that wait for answers.
  static let maximumAskers = 65_536

  private var known: [AccountName: (payer: Payer, until: MonotonicInstant)] = [:]
  /// Who waits for what is being read; nobody, where it is read before its time is over.
  private var askers: [AccountName: [Asker]] = [:]
  private var askerCount = 0

  /// What is known and fresh.
  func fresh(_ account: AccountName, at now: MonotonicInstant) -> Payer? {
    guard let entry = known[account], now < entry.until else { return nil }
    return entry.payer
  }

  /// Whether it is time to read an account anew that is known and used.
  mutating func renews(_ account: AccountName, at now: MonotonicInstant) -> Bool {
    guard let entry = known[account], askers[account] == nil,
      entry.until.milliseconds(since: now) < PayerCache.renewalMilliseconds
    else { return false }
    askers[account] = []
    return true
  }

  /// What was last known, however old: for requests about calls that exist already, which ask for no price.
  func last(_ account: AccountName) -> Payer? { known[account]?.payer }

  enum Waiting: Hashable {
    /// The first to ask: the payer has to be read.
    case asks
    /// Somebody has asked already.
    case waits
    case refused
  }

  mutating func wait(_ asker: Asker, for account: AccountName) -> Waiting {
    guard askerCount < PayerCache.maximumAskers else { return .refused }
    askerCount += 1
    let isBeingRead = askers[account] != nil
    askers[account, default: []].append(asker)
    return isBeingRead ? .waits : .asks
  }

  /// - Returns: who waited for it, in order.
  mutating func read(_ payer: Payer?, of account: AccountName, at now: MonotonicInstant) -> [Asker] {
    if let payer {
      if known.count >= PayerCache.maximumAccounts { known.removeAll() }
      known[account] = (payer, now.advanced(byMilliseconds: PayerCache.freshMilliseconds))
    } else {
      known[account] = nil
    }
    let waited = askers.removeValue(forKey: account) ?? []
    askerCount -= waited.count
    return waited
  }
}
