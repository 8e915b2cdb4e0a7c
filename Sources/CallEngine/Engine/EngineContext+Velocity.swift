import CallModel
import LedgerCore
import RoutingCore

/// An account of one environment.
struct AccountKey: Hashable {
  let account: AccountName
  let environment: String
}

// MARK: What may be done within an hour

extension EngineContext {
  /// Counts a call before anything is asked for it. What is free, and what the ledger refuses anyway, counts nowhere.
  /// - Parameter user: `nil` where no user asked.
  func admit(
    _ terms: CallTerms, payer: Payer, user: String?, in environment: EngineConfiguration.Environment
  ) throws(CallFailure) -> VelocityCounter.Mark? {
    guard !environment.velocity.isEmpty, !terms.isGivenAway, !terms.isEmergency, case .rated = terms.rating else {
      return nil
    }
    let account = AccountKey(account: payer.account, environment: environment.name)
    guard !accountsBeingLocked.contains(account) else { throw CallFailure(CallRefusal.accountLocked) }
    let verdict = velocity.admit(
      environment.velocity, environment: environment.name, account: payer.account, user: user,
      to: EngineContext.destinations(of: terms, payer.account, in: environment), at: now)
    switch verdict {
    case .admitted(let mark, let alarms):
      for rule in alarms { announce(rule, account) }
      return mark
    case .refused(let refusal):
      refused(refusal, account)
      throw EngineContext.failure(refusal.rule)
    }
  }

  /// Counts the price of a grant that the ledger made.
  /// - Returns: the rule that stands against it; then it is not counted.
  func count(_ amount: MicroUnits, _ mark: inout VelocityCounter.Mark, of account: AccountKey) -> VelocityRule? {
    // Who is granted anything is not locked any more.
    accountsLocked.remove(account)
    switch velocity.count(amount, mark, at: now) {
    case .admitted(let counted, let alarms):
      mark = counted
      for rule in alarms { announce(rule, account) }
      return nil
    case .refused(let refusal):
      refused(refusal, account)
      return refusal.rule
    }
  }

  /// The ledger locked an account, or could not.
  func lockAnswered(_ account: AccountKey, isLocked: Bool) {
    accountsBeingLocked.remove(account)
    guard isLocked else { return }
    accountsLocked.insert(account)
    // When it is unlocked, its hour begins anew.
    velocity.forget(account.account, environment: account.environment)
  }

  static func failure(_ rule: VelocityRule) -> CallFailure {
    CallFailure(CallRefusal.hourlyCap, phrase: rule.text)
  }

  private func refused(_ refusal: VelocityCounter.Refusal, _ account: AccountKey) {
    // What still asks for calls of a locked account hears the ledger's refusal, and nobody is told twice.
    guard !accountsLocked.contains(account) else { return }
    if refusal.isFirst { announce(refusal.rule, account) }
    guard refusal.locks, accountsBeingLocked.insert(account).inserted else { return }
    emit(.lock(account.account, environment: account.environment, reason: refusal.rule.text))
  }

  private func announce(_ rule: VelocityRule, _ account: AccountKey) {
    log(
      .warning, nil,
      "account \(account.account) of \(account.environment) has reached a rule (\(rule.consequence.rawValue)): \(rule.text)"
    )
    emit(.velocity(rule, environment: account.environment))
  }

  private static func destinations(
    of terms: CallTerms, _ account: AccountName, in environment: EngineConfiguration.Environment
  ) -> VelocityRule.Destinations {
    guard case .phone(let number) = terms.destination else { return .sip }
    if let digits = try? NumberDigits(number.digits), SpecialRateRanges.shipped.match(digits) != nil { return .premium }
    return environment.isDomestic(number.country, to: account) ? .domestic : .foreign
  }
}
