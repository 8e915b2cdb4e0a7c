import CallModel
import Testing

@Suite("Decimal texts")
struct DecimalTextTests {
  @Test(
    "reads exactly, up to the limits",
    arguments: [
      ("0", 6, 0), ("-0", 6, 0), ("+0", 6, 0), ("10", 6, 10_000_000), ("-0.015467", 6, -15_467), ("+1.5", 6, 1_500_000),
      ("0.000001", 6, 1), ("-0.000001", 6, -1), ("007", 0, 7), ("0.5", 1, 5), ("1.10", 2, 110),
      ("9223372036854.775807", 6, Int64.max), ("-9223372036854.775807", 6, -Int64.max),
      ("999999999999999999", 0, 999_999_999_999_999_999), ("-999999999999999999", 0, -999_999_999_999_999_999),
      ("000000000000000001", 0, 1), ("9.223372036854775807", 18, Int64.max),
    ] as [(String, Int, Int64)])
  func reads(_ text: String, _ scale: Int, _ value: Int64) throws {
    #expect(try DecimalText.parse(text, scale: scale) == value)
    #expect(try DecimalText.parse(text[...], scale: scale) == value)
  }

  @Test(
    "refuses by rule and place",
    arguments: [
      ("", 6, "amount.empty", nil), ("-", 6, "amount.digits", 1), ("+", 6, "amount.digits", 1),
      (".5", 6, "amount.character", 0), ("-.5", 6, "amount.character", 1), ("1.", 6, "amount.digits", 2),
      (".", 6, "amount.character", 0), ("1.2.3", 6, "amount.character", 3), ("1,5", 6, "amount.character", 1),
      ("1 000", 6, "amount.character", 1), (" 1", 6, "amount.character", 0), ("1 ", 6, "amount.character", 1),
      ("1\n", 6, "amount.character", 1), ("1e3", 6, "amount.character", 1), ("1E3", 6, "amount.character", 1),
      ("0x10", 6, "amount.character", 1), ("NaN", 6, "amount.character", 0), ("inf", 6, "amount.character", 0),
      ("--1", 6, "amount.character", 1), ("+-1", 6, "amount.character", 1), ("1-", 6, "amount.character", 1),
      ("\u{FF11}", 6, "amount.character", 0), ("\u{0661}", 6, "amount.character", 0),
      ("1_000", 6, "amount.character", 1),
      ("1'000", 6, "amount.character", 1), ("\u{2212}1", 6, "amount.character", 0),
      ("1\u{0}", 6, "amount.character", 1),
      ("1.0000001", 6, "amount.scale", 8), ("1.0000000", 6, "amount.scale", 8), ("1.5", 0, "amount.character", 1),
      ("1.", 0, "amount.character", 1), ("9223372036854.775808", 6, "amount.range", 19),
      ("-9223372036854.775808", 6, "amount.range", 20), ("9223372036855", 6, "amount.range", nil),
      ("1000000000000000000", 0, "amount.range", 18), ("0000000000000000001", 0, "amount.range", 18),
      ("-1000000000000000000", 0, "amount.range", 19), ("10", 18, "amount.range", nil),
      (String(repeating: "9", count: 10_000), 6, "amount.range", 18),
    ] as [(String, Int, String, Int?)])
  func refuses(_ text: String, _ scale: Int, _ rule: String, _ offset: Int?) {
    let error = #expect(throws: InvalidValue.self) { try DecimalText.parse(text, scale: scale, kind: "price") }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.kind == "price")
    #expect(error?.accepted.contains(scale == 0 ? "whole number" : "\(scale) decimals") == true)
  }

  @Test(
    "prints at full scale",
    arguments: [
      (0, 6, "0.000000"), (1, 6, "0.000001"), (-1, 6, "-0.000001"), (1_500_000, 6, "1.500000"),
      (999_999, 6, "0.999999"),
      (1_000_000, 6, "1.000000"), (-14_120_000, 6, "-14.120000"), (5, 0, "5"), (-5, 0, "-5"),
      (Int64.max, 6, "9223372036854.775807"), (Int64.min, 6, "-9223372036854.775808"),
      (Int64.min, 0, "-9223372036854775808"), (Int64.max, 19, "0.9223372036854775807"),
      (7, 20, "0.00000000000000000007"),
    ] as [(Int64, Int, String)])
  func prints(_ value: Int64, _ scale: Int, _ text: String) {
    #expect(DecimalText.format(value, scale: scale) == text)
  }

  @Test("what is printed reads back", arguments: [0, 1, 6, 9])
  func roundTrip(_ scale: Int) throws {
    // The same numbers on every run: a fixed seed through a linear congruence.
    let seed: UInt64 = 20_261_121
    var state = seed
    for step in 0..<2000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // Shifted so that every magnitude from one digit to eighteen occurs.
      let value = Int64(truncatingIfNeeded: state >> 4) % 1_000_000_000_000_000_000 >> Int64(step % 60)
      let signed = state & 1 == 0 ? value : -value
      #expect(
        try DecimalText.parse(DecimalText.format(signed, scale: scale), scale: scale) == signed,
        "seed \(seed) step \(step)")
    }
  }
}
