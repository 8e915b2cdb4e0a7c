import LandlineHTTP
import Testing

@Suite("Percent-encoding")
struct PercentTextTests {
  @Test(
    arguments: [
      ("", ""), ("%41", "A"), ("a+b%2Bc", "a+b+c"), ("%c3%A5", "å"), ("%", nil), ("%4", nil), ("%4g", nil),
      ("%ff", nil), ("%00", "\0"),
    ] as [(String, String?)])
  func decodes(_ text: String, _ expected: String?) { #expect(PercentText.decode(text) == expected) }

  @Test(
    arguments: [
      ("a=1&b=2", ["a=1", "b=2"]), ("a&b=", ["a=", "b="]), ("&&a=1&", ["a=1"]), ("a=b=c", ["a=b=c"]), ("=", ["="]),
      ("%61=1", ["a=1"]), ("a=1&%61=2", nil), ("a=%zz", nil),
    ] as [(String, [String]?)])
  func query(_ text: String, _ expected: [String]?) {
    #expect(PercentText.query(text)?.map { "\($0.name)=\($0.value)" } == expected)
  }

  /// Each name beside all before it would take minutes.
  @Test("A hundred thousand parameters take time in proportion", .timeLimit(.minutes(1)))
  func many() {
    let names = (0..<100_000).map { "parameter\($0)" }
    #expect(PercentText.query(names.joined(separator: "&"))?.count == names.count)
    #expect(PercentText.query((names + names.suffix(1)).joined(separator: "&")) == nil)
  }
}
