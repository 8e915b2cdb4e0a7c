import CallModel
import Testing

@Suite("Credits and currencies")
struct CreditsTests {
  static let limit = Credits.maximumMicros

  @Test("a currency is three capital letters")
  func currencies() throws {
    for code in ["EUR", "USD", "AAA", "ZZZ", "SEK"] { #expect(try Currency(code).description == code) }
    #expect(try Currency("EUR") == .eur)
    #expect(try Currency("USD") == .usd)
    #expect(Currency.eur < .usd)
    let refused: [(String, Int)] = [
      ("", 0), ("E", 1), ("EU", 2), ("EURO", 3), ("eur", 0), ("EuR", 1), ("EU1", 2), ("EU ", 2), (" EUR", 0),
      ("EUR\n", 3),
      ("\u{20AC}", 0), ("E\u{DC}R", 1), ("@AA", 0), ("[AA", 0),
    ]
    for (text, offset) in refused {
      let error = #expect(throws: InvalidValue.self) { try Currency(text) }
      #expect(error?.rule == "currency.code", "\(text)")
      #expect(error?.offset == offset, "\(text)")
    }
  }

  @Test("amounts hold their range", arguments: [0, 1, -1, limit - 1, limit, -limit] as [MicroUnits])
  func range(_ micros: MicroUnits) throws {
    let credits = try Credits(micros: micros, .eur)
    #expect(credits.micros == micros)
    #expect(try Credits(parsing: credits.decimal, .eur) == credits)
    #expect(credits.description == "\(credits.decimal) EUR")
    #expect(credits.negated.micros == -micros)
    #expect(credits.negated.negated == credits)
  }

  @Test("amounts past their range are refused", arguments: [limit + 1, -limit - 1, .max, .min] as [MicroUnits])
  func pastRange(_ micros: MicroUnits) {
    #expect(throws: CreditsError.outOfRange) { try Credits(micros: micros, .eur) }
    let error = #expect(throws: InvalidValue.self) {
      try Credits(parsing: micros.decimal, .eur)
    }
    #expect(error?.rule == "amount.range")
  }

  @Test(
    "adds and subtracts exactly, or refuses",
    arguments: [
      (1, 2, 3, -1), (-1, 1, 0, -2), (limit, 0, limit, limit), (limit, 1, nil, limit - 1), (limit, limit, nil, 0),
      (-limit, -limit, nil, 0), (-limit, limit, 0, nil), (limit, -limit, 0, nil), (limit - 1, 1, limit, limit - 2),
      (-limit, -1, nil, -limit + 1),
    ] as [(MicroUnits, MicroUnits, MicroUnits?, MicroUnits?)])
  func arithmetic(_ left: MicroUnits, _ right: MicroUnits, _ sum: MicroUnits?, _ difference: MicroUnits?) throws {
    let (first, second) = (try Credits(micros: left, .eur), try Credits(micros: right, .eur))
    #expect((try? first.adding(second))?.micros == sum)
    #expect((try? first.subtracting(second))?.micros == difference)
    if sum == nil { #expect(throws: CreditsError.outOfRange) { try first.adding(second) } }
  }

  @Test("currencies never mix")
  func mixing() throws {
    let (euro, dollar) = (try Credits(micros: 1, .eur), try Credits(micros: 1, .usd))
    #expect(throws: CreditsError.currencyMismatch(.eur, .usd)) { try euro.adding(dollar) }
    #expect(throws: CreditsError.currencyMismatch(.usd, .eur)) { try dollar.subtracting(euro) }
    #expect(euro != dollar)
    #expect(Credits.zero(.eur).micros == 0)
    #expect(CreditsError.currencyMismatch(.eur, .usd).description == "EUR and USD cannot be added")
    #expect(CreditsError.outOfRange.description.hasSuffix("4611686018427.387903"))
  }
}
