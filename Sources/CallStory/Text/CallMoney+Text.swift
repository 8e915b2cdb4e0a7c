import CallModel

extension CallStory {
  static func write(_ money: CallMoney, on page: inout StoryPage) {
    page.heading("Money")
    page.fact("account", accountText(money))
    page.fact("price", priceText(money))
    if let reserved = money.reservedMicro {
      page.fact("reserved", "\(amount(reserved, money))" + (money.holdState.map { ", \($0)" } ?? ""))
    }
    if let charged = money.chargedMicro {
      page.fact("charged", amount(charged, money) + (money.billedSeconds.map { " for \($0) s" } ?? ""))
    }
    for transfer in money.transfers {
      page.fact("transfer", "\(transfer.kind) \(transfer.id), \(Instant(milliseconds: transfer.at))")
      let rows = [transfer.debit, transfer.credit].map { posting in
        [
          PlainText.line(posting.account), StoryTeller.money(posting.amountMicro),
          StoryTeller.money(posting.balanceMicro),
        ]
      }
      page.table(["account", "amount", "balance"], rows, rightAligned: [1, 2], indent: 12)
    }
  }

  private static func accountText(_ money: CallMoney) -> String {
    "\(money.account): balance \(amount(money.balanceMicro, money)), available \(amount(money.availableMicro, money))"
  }

  private static func priceText(_ money: CallMoney) -> String? {
    guard let rate = money.ratePerMinuteNano else { return money.destination }
    var parts = ["\(perMinute(rate)) \(money.currency) a minute"]
    if let fee = money.connectionFeeMicro, fee != 0 { parts.append("\(amount(fee, money)) once") }
    if let first = money.initialSeconds, let step = money.incrementSeconds {
      parts.append("\(first) s at least, then by \(step) s")
    }
    if let destination = money.destination { parts.append(destination) }
    if let deck = money.deck { parts.append("deck \(deck)") }
    return parts.joined(separator: "; ")
  }

  private static func amount(_ micro: MicroUnits, _ money: CallMoney) -> String {
    "\(StoryTeller.money(micro)) \(money.currency)"
  }

  /// Billionths as a decimal number, without zeros after the second decimal.
  private static func perMinute(_ nano: NanoUnits) -> String { nano.brief }
}
