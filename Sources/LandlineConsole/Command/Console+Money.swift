import CallModel
import LedgerCore

/// Commands that move money outside a call.
extension Console {
  /// - Parameter largest: the text of the largest amount that is booked at once; `nil` for that of the ledger's
  ///   environment, else the standard.
  package func topup(
    account: String, amount: String, method: String, note: String, largest: String? = nil, _ options: WriteOptions
  ) async throws -> Answer {
    let method = try Arguments.name(method, "--method", as: RequestKey.self)
    return try await move("topup", account, note: note, options, largest: largest) { account in
      (.topup(method: method), try Arguments.positiveAmount(amount, account.currency))
    }
  }

  /// A balance brought over from another system.
  package func opening(
    account: String, amount: String, note: String, largest: String? = nil, _ options: WriteOptions
  ) async throws -> Answer {
    try await move("opening", account, note: note, options, largest: largest) { account in
      (.opening, try Arguments.positiveAmount(amount, account.currency))
    }
  }

  package func refund(account: String, seq: String, amount: String?, note: String, _ options: WriteOptions) async throws
    -> Answer
  {
    let seq = try Arguments.sequence(seq)
    return try await move("refund", account, note: note, options) { account in
      (.refund(of: seq), try amount.map { try Arguments.positiveAmount($0, account.currency) })
    }
  }

  package func chargeback(account: String, seq: String, amount: String?, note: String, _ options: WriteOptions)
    async throws -> Answer
  {
    let seq = try Arguments.sequence(seq)
    return try await move(
      "chargeback", account, note: note, options, question: "charge transfer \(seq) back and lock \(account)"
    ) { account in
      (.chargeback(of: seq), try amount.map { try Arguments.positiveAmount($0, account.currency) })
    }
  }

  package func adjust(
    account: String, amount: String, reason: String, force: Bool, largest: String? = nil, _ options: WriteOptions
  ) async throws -> Answer {
    guard !reason.isEmpty else {
      throw ConsoleError.usage(
        "reason.empty", "a correction needs a reason", at: "--reason", fix: "--reason \"duplicate top-up of 3 May\"")
    }
    return try await move(
      "adjust", account, note: reason, options,
      question: force ? "take \(account) below its limit and lock it if need be" : nil, largest: largest
    ) { account in
      let amount = try Arguments.amount(amount, account.currency)
      guard amount.micros != 0 else {
        throw ConsoleError.usage(
          "amount.positive", "amount: zero moves nothing here", at: "AMOUNT",
          fix: "an amount such as 12.50 or -12.50")
      }
      return (.adjust(force: force), amount)
    }
  }

  package func transfer(from: String, to: String, amount: String, note: String, _ options: WriteOptions) async throws
    -> Answer
  {
    let target = try Arguments.name(to, "TO", as: AccountName.self)
    guard from != to else {
      throw ConsoleError.usage("transfer.self", "both accounts are the same", at: to, fix: "two different accounts")
    }
    return try await move("transfer", from, argument: "FROM", note: note, options, other: to) { account in
      (.transfer(to: target), try Arguments.positiveAmount(amount, account.currency))
    }
  }

  private func move(
    _ name: String, _ text: String, argument: String = "ACCOUNT", note: String, _ options: WriteOptions,
    question: String? = nil, other: String? = nil, largest: String? = nil,
    _ plan: (LedgerAccount) throws -> (MoneyMovement.Kind, Credits?)
  ) async throws -> Answer {
    let note = try Arguments.free(note, name == "adjust" ? "--reason" : "--note")
    // Before anything is opened or asked: the account's own name and the key.
    _ = try Arguments.name(text, argument, as: AccountName.self)
    if let key = options.key { _ = try Arguments.name(key, "--key", as: RequestKey.self) }
    let named = try largest.map { try Arguments.positiveAmount($0, .eur, "--largest").micros }
    let limit = try named ?? largestAmount() ?? MoneyMovement.standardLargest
    let (account, kind, amount) = try reading { reading in
      let lookup = LedgerLookup(reading)
      let account = try lookup.customer(text, argument)
      if let other { _ = try lookup.customer(other, "TO") }
      let (kind, amount) = try plan(account)
      return (account, kind, amount)
    }
    if let question { try confirm(question, options) }
    return try await write(options) { write in
      let movement = MoneyMovement(
        account: try Arguments.name(account.name, argument), key: write.key, kind, amount: amount, detail: note,
        largest: limit)
      let receipt: LedgerReceipt
      do {
        receipt = try await send(.move(movement), write)
      } catch var error as ConsoleError where error.code == LedgerRefusal.amountOutOfRange.rawValue {
        switch kind {
        case .refund(let seq), .chargeback(let seq):
          error.what = "\(amount == nil ? "nothing" : "less than that") is left of transfer \(seq)"
          error.fix = "landline history \(account.name)"
        case .opening, .topup, .adjust, .transfer: break
        }
        throw error
      }
      guard case .posted(let seq, let moved, let balance) = receipt.outcome else {
        throw ConsoleError(.failed, code: "internal", "the ledger answered \(receipt.outcome.text)")
      }
      let listing = Listing(
        [
          Column("seq"), Column("account"), Column("kind"), Column("currency"), Column("amount", .amount),
          Column("balance", .amount), Column("key"), Column("replayed", for: .machines),
          Column("dry_run", for: .machines),
        ],
        rows: [
          [
            .integer(seq), .text(account.name), .text(name), .text("\(account.currency)"),
            .signed(try account.credits(moved)), .amount(try account.credits(balance)), .text(write.key.text),
            .flag(receipt.isReplay), .flag(options.isDryRun),
          ]
        ])
      return noted(Answer(row: listing), receipt, options)
    }
  }
}
