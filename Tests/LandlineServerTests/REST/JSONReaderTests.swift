import LandlineServer
import Testing

@Suite struct JSONReaderTests {
  @Test(arguments: [
    ("", 0), ("{", 1), ("[1,]", 3), ("{\"a\":1,}", 7), ("01", 1), ("1.", 2), ("-", 1), ("1e", 2), ("tru", 3),
    ("nul1", 3),
    ("\"a", 2), ("\"\\x\"", 2), ("\"\\u12G4\"", 5), ("\"\\uD800\"", 3), ("\"\\uD800\\u0041\"", 3), ("\"\u{1}\"", 1),
    ("1 2", 2),
    ("{\"a\":1,\"a\":2}", 7), ("[1 2]", 3), ("{1:2}", 1), ("'a'", 0), ("NaN", 0), ("+1", 0), ("1e999", 0),
  ])
  func namesTheByteAtFault(_ text: String, _ offset: Int) {
    #expect { try JSONReader.read(Array(text.utf8)) } throws: { ($0 as? JSONFault)?.offset == offset }
  }

  @Test func refusesWhatIsTooDeepAndWhatIsNoText() {
    let deep = Array(String(repeating: "[", count: 100_000).utf8)
    #expect { try JSONReader.read(deep) } throws: { ($0 as? JSONFault)?.offset == JSONReader.maximumDepth + 1 }
    #expect { try JSONReader.read([0x22, 0x61, 0xFF, 0x22]) } throws: { ($0 as? JSONFault)?.offset == 2 }
  }

  @Test func readsWhatItWrites() throws {
    let tree = JSONTree.members([
      ("text", .text("a\"\\\u{8}\n\u{7F}\u{1F600}")), ("whole", .integer(.min)), ("part", .number(-1.5e10)),
      ("list", .array([.null, .boolean(true), .boolean(false), .members([])])),
    ])
    #expect(try JSONReader.read(tree.bytes) == tree)
    #expect(
      try JSONReader.read(Array(" {\"a\" : \"\\u0041\\uD83D\\uDE00\\/\" } ".utf8))
        == .members([("a", .text("A\u{1F600}/"))]))
  }
}
