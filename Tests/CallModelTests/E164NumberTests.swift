import CallModel
import TestVectors
import Testing

@Suite("E.164 numbers")
struct E164NumberTests {
  @Test(
    "reads what is a number",
    arguments: [
      ("+46701234567", 46, "+4670•••••67"),
      ("+1234567", 1, "+1••••••"),
      ("+2901234", 290, "+290••••"),
      ("+29012345", 290, "+290•••••"),
      ("+123456789", 1, "+1••••••••"),
      ("+1234567890", 1, "+1234••••90"),
      ("+999999999999999", 0, ""),
      ("+998999999999999", 998, "+9989•••••••••99"),
      ("+78005553535", 7, "+7800•••••35"),
    ])
  func reads(_ text: String, _ code: Int, _ masked: String) throws {
    guard code > 0 else {
      #expect(throws: InvalidValue.self) { try E164Number(text) }
      return
    }
    let number = try E164Number(text)
    #expect(number.description == text)
    #expect("+" + number.digits == text)
    #expect(String(number.value) == number.digits)
    #expect(number.countryCode == code)
    #expect(number.masked == masked)
    #expect(try E164Number(number.description) == number)
    #expect(E164Number.hasSyntax(text))
  }

  @Test(
    "refuses by rule and place",
    arguments: [
      ("", "e164.plus", 0),
      ("46701234567", "e164.plus", 0),
      (" +46701234567", "e164.plus", 0),
      ("\u{FF0B}46701234567", "e164.plus", 0),
      ("\u{200B}+46701234567", "e164.plus", 0),
      ("0046701234567", "e164.plus", 0),
      ("tel:+46701234567", "e164.plus", 0),
      ("+", "e164.short", 1),
      ("+123456", "e164.short", 7),
      ("+1234567890123456", "e164.long", 16),
      ("+12345678901234567890123456789012345678901234567890", "e164.long", 16),
      ("+0701234567", "e164.first", 1),
      ("+46 701234567", "e164.digit", 3),
      ("+46-701234567", "e164.digit", 3),
      ("++46701234567", "e164.digit", 1),
      ("+4670123456a", "e164.digit", 11),
      ("+1800FLOWERS", "e164.digit", 5),
      ("+46701234567\n", "e164.digit", 12),
      ("+46701234567\u{0}", "e164.digit", 12),
      ("+\u{FF14}\u{FF16}701234567", "e164.digit", 1),
      ("+46\u{0667}01234567", "e164.digit", 3),
      ("+46701234567\u{301}", "e164.digit", 12),
      ("+46701234567;ext=1", "e164.digit", 12),
      ("+123456789012345\u{1F4DE}", "e164.digit", 16),
      ("+99912345678", "e164.country", 1),
      ("+8012345678", "e164.country", 1),
      ("+2101234567", "e164.country", 1),
    ])
  func refuses(_ text: String, _ rule: String, _ offset: Int) {
    let error = #expect(throws: InvalidValue.self) { try E164Number(text) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.accepted.contains("+46701234567") == true)
    #expect(E164Number.hasSyntax(text) == (rule == "e164.country"))
  }

  @Test(
    "gives the vectors' verdict on syntax and refuses unassigned country codes",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func vectors() throws {
    var refusedForCountry = 0
    let rows = try TestVectors.table("e164/numbers.tsv")
    #expect(rows.count > 1500)
    for row in rows {
      let input = try #require(row["input"])
      #expect(E164Number.hasSyntax(input) == (row["strict_e164_syntax"] == "yes"), "\(input)")
      guard row["strict_e164_syntax"] == "yes" else { continue }
      if row["parse"] == "ok" {
        #expect(String(try E164Number(input).countryCode) == row["country_code"], "\(input)")
      } else {
        // Strict in form, and the reference finds no country code.
        #expect(row["parse"] == "parse-error:INVALID_COUNTRY_CODE", "\(input)")
        let error = #expect(throws: InvalidValue.self, "\(input)") { try E164Number(input) }
        #expect(error?.rule == "e164.country", "\(input)")
        refusedForCountry += 1
      }
    }
    #expect(refusedForCountry > 40)
  }

  @Test(
    "knows exactly the assigned country codes",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func countryCodes() throws {
    let assigned = Set(try TestVectors.table("e164/country-codes.tsv").compactMap { $0["country_code"] })
    #expect(assigned.count > 200)
    for code in 1...999 {
      let known = (try? E164Number("+\(code)111111111"))?.countryCode == code
      #expect(known == assigned.contains(String(code)), "+\(code)")
    }
  }

  @Test(
    "countries that share a country code are told apart where calls are allowed or refused",
    arguments: [
      ("+12025550123", 1), ("+14165550123", 1), ("+17875550123", 1), ("+18765550123", 1876), ("+12425550123", 1242),
      ("+18095550123", 1809), ("+74951234567", 7), ("+77012345678", 77), ("+76012345678", 76), ("+46701234567", 46),
      ("+3531234567", 353),
    ])
  func country(_ text: String, _ country: Int) throws { #expect(try E164Number(text).country == country) }

  @Test("knows the test numbers by their digits alone")
  func testNumbers() throws {
    let expected: [(String, TestNumber, TestNumber.Outcome, Int64)] = [
      ("+46000000000", .promptOnce, .prompt(times: 1), 7500),
      ("+460000000002", .promptTwice, .prompt(times: 2), 7500),
      ("+460000000003", .promptThreeTimes, .prompt(times: 3), 7500),
      ("+460000000004", .promptFourTimes, .prompt(times: 4), 7500),
      ("+460000000005", .promptFiveTimes, .prompt(times: 5), 7500),
      ("+460000000006", .promptSixTimes, .prompt(times: 6), 7500),
      ("+460000000007", .promptSevenTimes, .prompt(times: 7), 7500),
      ("+460000000008", .promptEightTimes, .prompt(times: 8), 7500),
      ("+460000000009", .promptNineTimes, .prompt(times: 9), 7500),
      ("+4600000000010", .playTwoMinutes, .play(milliseconds: 120_000), 7500),
      ("+4600000000020", .promptUntilDigit, .promptUntil(digit: "0", times: 10), 7500),
      ("+4600000000030", .deniedAtOnce, .failure(.declined, status: 603), 0),
      ("+4600000000031", .deniedAfterProgress, .failure(.declined, status: 603), 7500),
      ("+4600000000040", .noAnswer, .failure(.noAnswer, status: 408), 45_000),
      ("+4600000000050", .congestionAtOnce, .failure(.congestion, status: 503), 0),
      ("+4600000000051", .congestionAfterProgress, .failure(.congestion, status: 503), 7500),
    ]
    #expect(Set(expected.map(\.1)) == Set(TestNumber.allCases))
    for (text, testNumber, outcome, progress) in expected {
      let number = try E164Number(text)
      #expect(number.testNumber == testNumber, "\(text)")
      #expect(testNumber.outcome == outcome, "\(text)")
      #expect(testNumber.progressBeforeOutcome == progress, "\(text)")
      #expect(number.countryCode == 46)
    }
    for text in ["+4600000000", "+460000000000", "+460000000001", "+46000000001", "+460000000010", "+46701234567"] {
      #expect(try E164Number(text).testNumber == nil, "\(text)")
    }
  }

  @Test("emergency codes are short codes of the set")
  func emergency() throws {
    for code in EmergencyNumber.known {
      #expect(try EmergencyNumber(code).description == code)
      #expect(throws: InvalidValue.self) { try E164Number(code) }
    }
    #expect(EmergencyNumber.known.isSuperset(of: ["112", "911", "999", "000", "110", "118", "119"]))
    #expect(EmergencyNumber.codes(ofCaller: nil) == ["112"])
    #expect(EmergencyNumber.codes(ofCaller: try E164Number("+12025550123")) == ["112", "911"])
    #expect(EmergencyNumber.codes(ofCaller: try E164Number("+442071838750")) == ["112", "999"])
    #expect(!EmergencyNumber.codes(ofCaller: try E164Number("+4930123456")).contains("118"))
    let refused: [(String, String)] = [
      ("", "emergency.code"), ("+112", "emergency.digit"), ("112 ", "emergency.digit"), ("1112", "emergency.code"),
      ("12", "emergency.code"), ("\u{FF11}12", "emergency.digit"), ("1120000", "emergency.code"),
    ]
    for (text, rule) in refused {
      let error = #expect(throws: InvalidValue.self) { try EmergencyNumber(text) }
      #expect(error?.rule == rule, "\(text)")
    }
    #expect(try EmergencyNumber("123", among: ["123"]).code == "123")
    #expect(throws: InvalidValue.self) { try EmergencyNumber("112", among: ["123"]) }
  }
}
