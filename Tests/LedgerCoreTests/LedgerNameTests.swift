import CallModel
import LedgerCore
import Testing

@Suite("Names inside the ledger")
struct LedgerNameTests {
  @Test(
    "accepted names stay as written",
    arguments: ["a", "9", "acme", "Acme-2_x.y@z+1", "46701234567", String(repeating: "x", count: 64)])
  func accepted(_ text: String) throws {
    #expect(try AccountName(validating: text).text == text)
    #expect(CallID(text)?.description == text)
  }

  @Test(
    "refused names say what and where",
    arguments: [
      ("", "name.empty", nil), (String(repeating: "x", count: 65), "name.long", 64), ("-a", "name.character", 0),
      (".a", "name.character", 0), ("+46", "name.character", 0), ("a b", "name.character", 1),
      ("a/b", "name.character", 1), ("a:b", "name.character", 1), ("é", "name.character", 0),
      ("a\u{0}", "name.character", 1), ("a\n", "name.character", 1), ("a'b", "name.character", 1),
      ("a;b", "name.character", 1), ("a=b", "name.character", 1),
    ] as [(String, String, Int?)])
  func refused(_ text: String, _ rule: String, _ offset: Int?) {
    #expect {
      try RequestKey(validating: text)
    } throws: { error in
      guard let error = error as? InvalidValue else { return false }
      return error.rule == rule && error.offset == offset && error.kind == "key"
    }
    #expect(TrunkName(text) == nil && NodeID(text) == nil)
  }

  @Test("names order as their texts do")
  func order() throws {
    let names = ["b", "a", "B", "a1"].compactMap { AccountName($0) }
    #expect(names.sorted().map(\.text) == ["B", "a", "a1", "b"])
  }
}
