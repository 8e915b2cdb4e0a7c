import SIPCore
import Testing

@Suite("Escapes in URIs")
struct EscapeTests {
  @Test(
    "are read, and broken ones refused",
    arguments: [
      ("+46", "+46"), ("%2B46", "+46"), ("%2b46", "+46"), ("a%20b", "a b"), ("%C3%A5", "\u{E5}"), ("%25", "%"),
      ("", ""), ("%", nil), ("%2", nil), ("%2G", nil), ("%+1", nil), ("a%00", nil), ("%0D%0A", nil), ("%7F", nil),
      ("%FF", nil),
    ] as [(String, String?)])
  func escapes(_ text: String, _ expected: String?) { #expect(SIPURI.unescaped(text) == expected) }
}
