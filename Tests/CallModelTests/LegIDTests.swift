import CallModel
import Foundation
import Testing

@Suite struct LegIDTests {
  @Test(arguments: [(UInt8(0), "near"), (1, "far"), (2, "leg 2"), (255, "leg 255")])
  func aLegIsWrittenAsItsName(_ number: UInt8, _ text: String) throws {
    let leg = LegID(number)
    #expect(leg.description == text)
    #expect(LegID(text) == leg)
    let bytes = try JSONEncoder().encode([leg])
    #expect(String(decoding: bytes, as: UTF8.self) == "[\"\(text)\"]")
    #expect(try JSONDecoder().decode([LegID].self, from: bytes) == [leg])
  }

  @Test(arguments: ["", "middle", "leg", "leg 0", "leg 1", "leg 256", "leg -1", "Near"])
  func otherTextNamesNoLeg(_ text: String) {
    #expect(LegID(text) == nil)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([LegID].self, from: JSONEncoder().encode([text]))
    }
  }
}
