import CallModel
import Testing

@Suite("JSON") struct JSONReaderTests {
  private static let limits = JSONReader.Limits(bytes: 200_000, depth: 32)

  private func fault(_ bytes: [UInt8], _ limits: JSONReader.Limits = limits) -> JSONProblem? {
    do {
      _ = try JSONReader.read(bytes, limits)
      return nil
    } catch { return error }
  }

  @Test(
    "the byte at fault is named",
    arguments: [
      ("", 0), ("{", 1), ("[1,]", 3), ("{\"a\":1,}", 7), ("01", 1), ("-01", 2), ("1.", 2), ("-", 1), ("1e", 2),
      ("tru", 3), ("nul1", 3), ("\"a", 2), ("\"\\", 2), ("\"\\x\"", 2), ("\"\\u12G4\"", 5), ("\"\\u12", 5),
      ("\"\\uD800\"", 3), ("\"\\uD800\\u0041\"", 3), ("\"\\uDC00\"", 3), ("\"\u{1}\"", 1), ("\"\\n\u{1}\"", 3),
      ("1 2", 2), ("{\"a\":1,\"a\":2}", 7), ("[1 2]", 3), ("{1:2}", 1), ("{\"a\" 1}", 5), ("'a'", 0), ("NaN", 0),
      ("+1", 0), ("[1e999]", 1), ("\u{FEFF}1", 0), ("[\u{0}]", 1),
    ])
  func place(_ text: String, _ offset: Int) { #expect(fault(Array(text.utf8))?.offset == offset) }

  @Test(
    "a text that is cut off is told from one that is wrong",
    arguments: [
      ("", "the text ends too early"), ("{", "the text ends too early"), ("{\"a\":1,", "the text ends too early"),
      ("{\"a\":", "the text ends too early"), ("[1,", "the text ends too early"), ("tr", "the text ends too early"),
      ("{\"a\":1,}", "a member's name in quotes is missing"), ("{\"a\":1", "a comma or a closing brace is missing"),
    ])
  func words(_ text: String, _ problem: String) { #expect(fault(Array(text.utf8))?.problem == problem) }

  @Test("limits have names, and what is no text has a place") func limits() {
    let deep = fault(Array(String(repeating: "[", count: 100_000).utf8))
    #expect(deep?.kind == .tooDeep && deep?.offset == 32)
    #expect(fault(Array("\(String(repeating: "[", count: 32))1\(String(repeating: "]", count: 32))".utf8)) == nil)
    let unlike = fault([0x22, 0x61, 0xFF, 0x22])
    #expect(unlike?.kind == .notUTF8 && unlike?.offset == 2)
    #expect(fault(Array("{\"a\":1,\"b\":2,\"a\":3}".utf8))?.kind == .duplicate("a"))
    let many = "{\((0..<100).map { "\"m\($0 % 99)\":1" }.joined(separator: ","))}"
    #expect(fault(Array(many.utf8))?.kind == .duplicate("m0"))
    var narrow = JSONReader.Limits(bytes: 20, depth: 1)
    #expect(fault(Array("[1,2,3,4,5,6,7,8,9,10]".utf8), narrow)?.kind == .tooLong)
    narrow.values = 3
    #expect(fault(Array("[1,2,3]".utf8), narrow)?.kind == .tooMany)
    narrow.elements = 2
    narrow.values = 10
    #expect(fault(Array("[1,2,3]".utf8), narrow)?.kind == .tooMany)
    narrow.members = 1
    #expect(fault(Array("{\"a\":1,\"b\":2}".utf8), narrow)?.kind == .tooMany)
    #expect(fault(Array(String(repeating: "1", count: JSONReader.maximumNumberBytes + 1).utf8))?.offset == 0)
    #expect(fault(Array("[\(String(repeating: "1,", count: 99_999))1]".utf8), .own) == nil)
  }

  @Test("whole numbers are exact, others are the nearest") func numbers() throws {
    for (text, value) in [
      ("0", .integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .number(9_223_372_036_854_775_808)),
      ("1.0", .number(1)), ("1e2", .number(100)), ("-2.5E-1", .number(-0.25)),
    ] as [(String, JSONValue)] {
      #expect(try JSONReader.read(Array(text.utf8), Self.limits) == value, "\(text)")
    }
  }

  @Test("what is written reads the same") func roundTrip() throws {
    let value = JSONValue.members([
      ("text", .string("a\"\\\u{8}\n\t\u{7F}\u{1F600}")), ("whole", .integer(.min)), ("part", .number(-1.5e10)),
      ("list", .array([.null, .boolean(true), .boolean(false), .members([]), .array([])])),
    ])
    #expect(try JSONReader.read(value.bytes, Self.limits) == value)
    #expect(
      String(decoding: value.bytes, as: UTF8.self)
        == "{\"text\":\"a\\\"\\\\\\u0008\\n\\t\\u007f\u{1F600}\",\"whole\":-9223372036854775808,\"part\":-15000000000.0,"
        + "\"list\":[null,true,false,{},[]]}")
    #expect(
      try JSONReader.read(Array(" {\"a\" : \"\\u0041\\uD83D\\uDE00\\/\" } ".utf8), Self.limits)
        == .members([("a", .string("A\u{1F600}/"))]))
    #expect(String(decoding: JSONValue.array([.number(.nan), .integer(1)]).bytes, as: UTF8.self) == "[null,1]")
  }

  @Test("parts are found by their names") func parts() {
    let value = JSONValue.members([("a", .members([("b", .array([.string("c"), .integer(4)]))])), ("d", .null)])
    #expect(value["a"]?["b"]?.elements.first?.stringValue == "c")
    #expect(value["a"]?["b"]?.elements.last?.integerValue == 4)
    #expect(value.names == ["a", "d"])
    #expect(value["e"] == nil && JSONValue.null["a"] == nil && JSONValue.null.names.isEmpty)
    #expect(JSONValue.string(optional: nil) == .null && JSONValue.integer(optional: 4) == .integer(4))
  }
}
