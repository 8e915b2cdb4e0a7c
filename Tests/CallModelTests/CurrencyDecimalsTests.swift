import CallModel
import Testing

@Suite("Amounts as people read them")
struct CurrencyDecimalsTests {
  @Test(
    arguments: [
      (0, "EUR", "0.00 EUR"), (0, "JPY", "0 JPY"), (0, "KWD", "0.000 KWD"), (14_500, "EUR", "0.0145 EUR"),
      (5_000_000, "EUR", "5.00 EUR"), (-1_250_000, "USD", "-1.25 USD"), (12_000_000, "JPY", "12 JPY"),
      (12_500_000, "JPY", "12.5 JPY"), (1, "EUR", "0.000001 EUR"), (100_000_000, "ISK", "100 ISK"),
    ] as [(MicroUnits, String, String)])
  func readable(_ micros: MicroUnits, _ currency: String, _ text: String) throws {
    #expect(try Credits(micros: micros, Currency(currency)).readable == text)
  }
}
