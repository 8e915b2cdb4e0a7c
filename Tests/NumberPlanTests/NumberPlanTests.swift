import CallModel
import Foundation
import NumberPlan
import TestVectors
import Testing

@Suite("Number plan advice")
struct NumberPlanTests {
  /// The library's names of types in the table, and ours.
  static let types: [String: NumberPlan.NumberType] = [
    "UNKNOWN": .unknown, "FIXED_LINE": .fixedLine, "MOBILE": .mobile, "FIXED_LINE_OR_MOBILE": .fixedLineOrMobile,
    "TOLL_FREE": .tollFree, "PREMIUM_RATE": .premiumRate, "SHARED_COST": .sharedCost, "VOIP": .voip,
    "PERSONAL_NUMBER": .personalNumber, "PAGER": .pager, "UAN": .universalAccess, "VOICEMAIL": .voicemail,
  ]

  /// Least share of rows whose validity must agree with newer tables.
  static let leastAgreement = 0.985

  /// Rows where the release of Debian 12 (8.12.57) gives another type, region or reason, validity and possibility being
  /// the same: ranges moved between regions that share a code (Morocco and Western Sahara, Réunion and Mayotte), mobile
  /// ranges of Denmark split, lengths of Benin and the Gambia added since.
  static let knownDifferences: Set<String> = [
    "+229012021123 reason", "+22056612341 reason", "+4534412345 type", "+212528812345 region", "+21252881234 region",
    "+2125288123451 region", "+21252012345 region", "+2125201234561 region", "+212827151030 region",
    "+26226960123 region", "+2622696012341 region",
  ]

  @Test(
    "agrees with the verdicts of newer tables, but for the rows known to differ",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func vectors() throws {
    var rows = 0
    var validityAgrees = 0
    for row in try TestVectors.table("e164/numbers.tsv") {
      guard row["strict_e164_syntax"] == "yes", row["parse"] == "ok", let input = row["input"] else { continue }
      rows += 1
      let advice = NumberPlan.advice(for: try E164Number(input))
      let isValid = row["valid"] == "yes"
      if advice.isValid == isValid { validityAgrees += 1 }
      let known = (row["debian12_8.12.57_differs"] ?? "").split(separator: " ")
      guard known.isEmpty else {
        // The column holds the verdicts of the installed release where they differ.
        if known.contains("valid=no") { #expect(!advice.isValid, "\(input)") }
        if known.contains("possible=no") { #expect(!advice.isPossible, "\(input)") }
        if known.contains("possible=yes") { #expect(advice.isPossible, "\(input)") }
        continue
      }
      #expect(advice.isValid == isValid, "\(input) valid")
      #expect(advice.isPossible == (row["possible"] == "yes"), "\(input) possible: \(advice.possibility)")
      var differences: [String] = []
      if advice.region ?? "" != row["region"] { differences.append("\(input) region") }
      if advice.type != Self.types[row["type"] ?? ""] { differences.append("\(input) type") }
      let reasons: [String: NumberPlan.Possibility] = [
        "no:TOO_SHORT": .tooShort, "no:TOO_LONG": .tooLong, "no:INVALID_LENGTH": .lengthNotUsed,
      ]
      if let reason = reasons[row["possible"] ?? ""], advice.possibility != reason {
        differences.append("\(input) reason")
      }
      #expect(Self.knownDifferences.isSuperset(of: differences), "\(differences)")
    }
    let agreement = Double(validityAgrees) / Double(max(rows, 1))
    print("number plan: validity agrees on \(validityAgrees) of \(rows) rows, \(agreement * 100) %")
    #expect(rows > 1000)
    #expect(agreement >= Self.leastAgreement)
  }

  @Test("answers a test number without asking the library", arguments: TestNumber.allCases)
  func testNumbers(_ testNumber: TestNumber) throws {
    let advice = NumberPlan.advice(for: try E164Number("+\(testNumber.rawValue)"))
    #expect(advice.testNumber == testNumber)
    #expect(advice.isValid && advice.isPossible)
    #expect(advice.region == nil)
  }

  @Test("a neighbour of a test number is asked of the plan")
  func neighbour() throws {
    let advice = NumberPlan.advice(for: try E164Number("+46000000001"))
    #expect(advice.testNumber == nil)
    #expect(!advice.isValid)
  }

  @Test("a number under a code that the tables lack is answered, not refused")
  func longest() throws {
    // Fifteen digits under a shared network code.
    let advice = NumberPlan.advice(for: try E164Number("+883999999999999"))
    #expect(!advice.isValid)
    #expect(advice.testNumber == nil)
  }

  @Test("loads nothing before the first real question")
  func loading() async throws {
    await #expect(processExitsWith: .success) {
      let untouched = !NumberPlan.isLoaded
      _ = NumberPlan.advice(for: try E164Number("+46000000000"))
      let stillUntouched = !NumberPlan.isLoaded
      let answer = NumberPlan.advice(for: try E164Number("+46701234567"))
      exit(untouched && stillUntouched && NumberPlan.isLoaded && answer.region == "SE" ? 0 : 1)
    }
  }
}
