import CallModel
import LedgerCore

/// What all commands that change something share.
extension Console {
  /// A keyed request on its way to the ledger.
  struct Write {
    var store: any LedgerStore
    var options: WriteOptions
    var key: RequestKey
    var at: Instant
  }

  /// Opens the ledger and settles on a key. A generated key is told once something stands under it; where that is not
  /// known, the failure names it, or the interrupt does.
  func write<Value>(
    _ options: WriteOptions, create: Bool = false, _ body: (Write) async throws -> Value
  ) async throws -> Value {
    let (key, isGenerated) = try options.requestKey()
    let at = try now()
    return try await writing(create: create) { store in
      guard isGenerated, !options.isDryRun else {
        return try await body(Write(store: store, options: options, key: key, at: at))
      }
      PendingKey.begin(key.text)
      defer { PendingKey.end() }
      let value = try await body(Write(store: store, options: options, key: key, at: at))
      try remark("key", key.text)
      return value
    }
  }

  /// Sends one request, or rehearses it.
  /// - Throws: ``ConsoleError`` for a refusal, and for a ledger that gives no answer.
  func send(_ request: LedgerOperation.Request, _ write: Write) async throws -> LedgerReceipt {
    let operation = LedgerOperation(request, at: write.at, actor: actor)
    let receipt: LedgerReceipt
    do throws(LedgerUnavailable) {
      receipt =
        write.options.isDryRun
        ? try await write.store.rehearse(operation) : try await write.store.perform(operation)
    } catch {
      throw ConsoleError(error, at: knownDatabasePath, key: write.key.text)
    }
    if let refusal = receipt.refusal {
      throw ConsoleError(
        refusal, account: operation.account.text, key: write.key.text, isReplay: receipt.isReplay)
    }
    return receipt
  }

  /// Asks before something that cannot be undone.
  /// - Throws: ``ConsoleError`` with exit 2 where nobody can be asked, or the answer is not yes.
  func confirm(_ question: String, _ options: WriteOptions) throws {
    if options.isConfirmed || options.isDryRun { return }
    guard environment.canAsk else {
      throw ConsoleError.usage(
        "confirmation", "needs a confirmation, and there is no terminal to ask on: \(question)", fix: "add --yes")
    }
    try TextStream.standardError.write("\(question)? [y/N] ")
    guard let answer = readLine()?.lowercased(), answer == "y" || answer == "yes" else {
      throw ConsoleError.usage("confirmation", "\(question): not confirmed, nothing was done")
    }
  }

  func customer(_ text: String, _ argument: String, in store: any LedgerStore) async throws -> LedgerAccount {
    try await store.read { try LedgerLookup($0).customer(text, argument) }
  }

  /// Remarks that go with every answer to a write.
  func noted(_ answer: Answer, _ receipt: LedgerReceipt, _ options: WriteOptions) -> Answer {
    var answer = answer
    if settings.format != .json, settings.format != .ndjson {
      if receipt.isReplay { answer.notes.append("replayed: this key was answered so before; nothing was changed") }
      if options.isDryRun { answer.notes.append("dry run: nothing was written") }
    }
    return answer
  }
}
