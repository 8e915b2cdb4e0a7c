import CallModel
import NumberPlan

extension Console {
  /// What a text is as a telephone number. The number plan is asked here and nowhere else.
  package func numberParse(_ text: String) async throws -> Answer {
    let number = try Arguments.number(text, "NUMBER")
    let advice = NumberPlan.advice(for: number)
    return Answer(
      record: Listing(
        [
          Column("number"), Column("country_code", title: "country code", .number), Column("region"), Column("type"),
          Column("possible"), Column("length"), Column("valid"), Column("test_number", title: "test number"),
        ],
        rows: [
          [
            .text("\(number)"), .integer(Int64(number.countryCode)), .text(optional: advice.region),
            .text(advice.type.rawValue), .flag(advice.isPossible), .text(advice.possibility.rawValue),
            .flag(advice.isValid), .text(optional: advice.testNumber.map { "\($0)" }),
          ]
        ]))
  }
}
