import CallModel
import Foundation
import Testing

@Suite("Units of money")
struct MoneyUnitsTests {
  @Test("Decimal texts are exact and read back", arguments: [0, 1, -1, 14_500, 1_000_000, -12_345_678_901])
  func texts(_ count: Int64) throws {
    #expect(try MicroUnits(parsing: MicroUnits(count).decimal) == MicroUnits(count))
    #expect(try NanoUnits(parsing: NanoUnits(count).decimal) == NanoUnits(count))
  }

  @Test("People read at least two decimals, and no zeros behind them")
  func brief() {
    #expect(MicroUnits(14_500).brief == "0.0145")
    #expect(MicroUnits(12_500_000).brief == "12.50")
    #expect(NanoUnits(14_500_000).brief == "0.0145")
    #expect(MicroUnits(14_500).decimal == "0.014500")
  }

  @Test("More decimals than a unit has are refused, not cut off")
  func tooFine() {
    #expect(throws: InvalidValue.self) { try MicroUnits(parsing: "0.0000001") }
    #expect(throws: Never.self) { try NanoUnits(parsing: "0.0000001") }
  }

  @Test("A fee is told in whole micro-units, never too small", arguments: [(0, 0), (1, 1), (1000, 1), (1001, 2)])
  func roundedUp(_ nano: Int64, _ micro: Int64) {
    #expect(NanoUnits(nano).roundedUp == MicroUnits(micro))
  }

  @Test("A second costs a whole number of sixtieths of a nano-unit")
  func sixtieths() {
    #expect(NanoUnits(7).cost(ofSeconds: 61) == NanoSixtieths(427))
    #expect(NanoUnits(7).sixtieths == NanoUnits(7).cost(ofSeconds: 60))
  }

  @Test("Sums of what may be anything say when they leave the range, and the least amount has a magnitude")
  func range() {
    #expect(MicroUnits(.max).addingReportingOverflow(1).overflow)
    #expect(MicroUnits(.min).magnitude == .max)
    #expect(MicroUnits(-5).magnitude == 5)
  }

  @Test("JSON has them as whole numbers")
  func json() throws {
    let data = try JSONEncoder().encode([MicroUnits(14_500), MicroUnits(-1)])
    #expect(String(decoding: data, as: UTF8.self) == "[14500,-1]")
    #expect(try JSONDecoder().decode([MicroUnits].self, from: data) == [14_500, -1])
  }
}
