import CallModel
import LedgerCore
import Testing

@Suite("Keys of requests")
struct LedgerOperationTests {
  private static func call(_ phase: CallOperation.Phase) -> LedgerOperation {
    LedgerOperation(
      .call(
        CallOperation(
          account: AccountName(unchecked: "acme"), call: CallID(unchecked: "c1"),
          origin: .init(node: NodeID(unchecked: "gw"), epoch: 1), phase)), at: Instant(milliseconds: 0), actor: "test")
  }

  @Test("each phase of a call has its key; all ways to end share one")
  func calls() throws {
    let authorisation = CallOperation.Authorisation(destination: "+46", country: nil, rating: .refused(.noRate))
    let rows: [(CallOperation.Phase, String)] = [
      (.authorise(authorisation), "c/c1/authorise"), (.answer, "c/c1/answer"),
      (.extend(number: 1, seconds: 60), "c/c1/extend/1"),
      (.extend(number: .min, seconds: 1), "c/c1/extend/\(Int64.min)"),
      (.settle(milliseconds: 1, reason: "hungUp", carriers: []), "c/c1/end"),
      (.void(reason: "x", carriers: []), "c/c1/end"),
      (.recover, "c/c1/end"),
    ]
    for (phase, key) in rows {
      #expect(Self.call(phase).key == key)
      #expect(Self.call(phase).account.text == "acme")
    }
  }

  @Test("a person's key cannot meet a call's")
  func people() {
    let account = AccountName(unchecked: "acme")
    let key = RequestKey(unchecked: "c")
    let movement = LedgerOperation(
      .move(MoneyMovement(account: account, key: key, .opening, amount: nil)), at: Instant(milliseconds: 0), actor: "t")
    let change = LedgerOperation(
      .administer(AccountAdministration(account: account, key: key, .lock)), at: Instant(milliseconds: 0), actor: "t")
    #expect(movement.key == "k/c" && change.key == "k/c")
    #expect(RequestKey("c/c1/end") == nil, "a key has no slash")
  }

  @Test(
    "an actor is kept to its limit", arguments: [("", 0), ("cli:alice", 9), (String(repeating: "a", count: 90), 64)])
  func actors(_ actor: String, _ bytes: Int) {
    let operation = LedgerOperation(
      .administer(AccountAdministration(account: AccountName(unchecked: "a"), key: RequestKey(unchecked: "k"), .lock)),
      at: Instant(milliseconds: 0), actor: actor)
    #expect(operation.actor.utf8.count == bytes)
  }
}
