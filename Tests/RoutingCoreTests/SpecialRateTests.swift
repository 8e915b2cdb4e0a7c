import CallModel
import Foundation
import PeerKit
import RoutingCore
import TestVectors
import Testing

@Suite("Numbers that cost more than where they lie")
struct SpecialRateTests {
  static let now = Instant(milliseconds: 1_790_000_000_000)
  /// A price for every country and none for anything in it.
  static let everyCountry = "prefix,name,rate\n" + (1...9).map { "\($0),Everywhere,0.02\n" }.joined()
  static let dearTypes: Set<String> = ["premium_rate", "shared_cost", "uan", "pager", "voicemail"]

  private func outcome(
    _ number: String, deck: String = everyCountry, named: DenyRanges = .none
  ) throws -> Result<RateSnapshot, RatingRefusal> {
    Rating.explain(
      try NumberDigits(number.drop { $0 == "+" }), plan: try DeckFixture.plan(deck), account: .eur, denyRanges: named,
      at: Self.now
    ).outcome
  }

  private func isPriced(_ number: String, deck: String = everyCountry, named: DenyRanges = .none) throws -> Bool {
    if case .success = try outcome(number, deck: deck, named: named) { return true }
    return false
  }

  /// Number, region and type of each line.
  private static func examples() throws -> [(number: String, region: String, type: String)] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Golden/example-numbers.tsv")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }.map {
      let columns = $0.split(separator: "\t").map(String.init)
      return (columns[0], columns[1], columns[2])
    }
  }

  @Test("every row of the shipped table is read, and every country code has been looked at")
  func rows() throws {
    let shipped = SpecialRateRanges.shipped
    #expect(shipped.ranges.count == SpecialRateRanges.rowCount)
    #expect(shipped.ranges.count > 1_000)
    #expect(Set(shipped.ranges.map(\.prefix)).count == shipped.ranges.count)
    for network in ["870", "881", "882", "883", "979"] {
      #expect(shipped.match(try NumberDigits(network + "12345678"))?.prefix.description == network)
    }
  }

  @Test("the exchange 976 is dear in every area of North America, and no other exchange is")
  func payPerCallExchange() throws {
    for area in ["202", "416", "787"] {
      #expect(try !isPriced("+1\(area)9765550"))
      #expect(try isPriced("+1\(area)9755550"))
      #expect(try isPriced("+1\(area)9765550", deck: Self.everyCountry + "1\(area)976,Theirs,1\n"))
    }
    #expect(try isPriced("+1976555012"), "too short for an exchange")
  }

  @Test("no dear example number of any country is placed at the price of its country; every ordinary one is")
  func exampleNumbers() throws {
    let plan = try DeckFixture.plan(Self.everyCountry)
    var dear = 0
    var placed: [String] = []
    var refused: [String] = []
    for (number, region, type) in try Self.examples() {
      guard let digits = try? NumberDigits(number.dropFirst()) else { continue }
      let isPriced = (try? Rating.quote(digits, plan: plan, account: .eur, at: Self.now)) != nil
      if Self.dearTypes.contains(type) {
        dear += 1
        if isPriced { placed.append("\(number) \(region) \(type)") }
      } else if !isPriced, !Self.isNamedByUs(number) {
        refused.append("\(number) \(region) \(type)")
      }
    }
    #expect(placed.isEmpty, "\(placed.count) of \(dear): \(placed.prefix(10))")
    #expect(refused.isEmpty, "\(refused.count): \(refused.prefix(10))")
    #expect(dear > 300)
    try ScoreboardRow(
      "X5", figure: "\(placed.count)", unit: "placed", target: "= 0", passed: placed.isEmpty && dear > 300,
      detail: "\(dear) example numbers of the number plans, \(SpecialRateRanges.source)", gate: true
    ).record()
  }

  /// Networks of no country, and personal numbers of the United Kingdom, are dear whatever type the plan gives them.
  private static func isNamedByUs(_ number: String) -> Bool {
    ["+808", "+870", "+878", "+881", "+882", "+883", "+979", "+4470"].contains { number.hasPrefix($0) }
  }

  @Test(
    "the same for the numbers of a table made by others",
    .enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
  func vectors() throws {
    let plan = try DeckFixture.plan(Self.everyCountry)
    let dearTypes: Set<String> = ["PREMIUM_RATE", "SHARED_COST", "UAN", "PAGER", "VOICEMAIL"]
    var dear = 0
    var placed: [String] = []
    for row in try TestVectors.table("e164/numbers.tsv")
    where row["valid"] == "yes" && row["strict_e164_syntax"] == "yes" {
      guard let input = row["input"], dearTypes.contains(row["type"] ?? "") else { continue }
      dear += 1
      if (try? Rating.quote(try NumberDigits(input.dropFirst()), plan: plan, account: .eur, at: Self.now)) != nil {
        placed.append(input)
      }
    }
    #expect(placed.isEmpty, "\(placed.count) of \(dear): \(placed.prefix(10))")
    #expect(dear > 100)
  }

  @Test("the shipped deck prices no dear number but where it has a row for its range")
  func shippedDeck() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Config/rates/retail-eur.csv")
    let plan = try DeckFixture.plan(String(contentsOf: file, encoding: .utf8))
    for (number, _, type) in try Self.examples() where Self.dearTypes.contains(type) {
      guard let digits = try? NumberDigits(number.dropFirst()),
        let snapshot = try? Rating.quote(digits, plan: plan, account: .eur, at: Self.now)
      else { continue }
      let range = try #require(SpecialRateRanges.shipped.match(digits))
      #expect(snapshot.prefix.count >= range.prefix.count, "\(number) at \(snapshot.prefix)")
    }
    for number in ["88121234567", "88213123456", "883510012345", "979912345678", "870773123456"] {
      #expect(throws: RatingRefusal.self, "\(number)") {
        try Rating.quote(try NumberDigits(number), plan: plan, account: .eur, at: Self.now)
      }
    }
    // 010 costs what Sweden costs, and the deck says so itself.
    #expect(throws: Never.self) {
      try Rating.quote(try NumberDigits("46102345678"), plan: plan, account: .eur, at: Self.now)
    }
  }

  @Test(
    "ranges that looked like their country",
    arguments: [
      "+449098790000", "+448711234567", "+33899123456", "+34806123456", "+31909123456", "+3290212345", "+3531520123456",
      "+37190123456", "+19002345678", "+447012345678",
    ])
  func knownRanges(_ number: String) throws {
    guard case .failure(.destinationBlocked) = try outcome(number) else {
      Issue.record("\(number) is priced")
      return
    }
  }

  @Test("ordinary numbers that begin like dear ones are told by their length")
  func lengths() throws {
    // Dublin, and premium numbers of Ireland; more digits than either has are no way around.
    #expect(try isPriced("+35315201234"))
    #expect(try !isPriced("+3531520123456"))
    #expect(try !isPriced("+35315201234567"))
  }

  @Test("a price for the range or a part of it counts, one for a shorter prefix does not")
  func ownPrice() throws {
    let range = try #require(SpecialRateRanges.shipped.match(try NumberDigits("46900123456")))
    #expect(range.prefix.description == "46900")
    #expect(try !isPriced("+46900123456", deck: "prefix,rate\n46,0.01\n4690,2\n"))
    let trace = Rating.explain(
      try NumberDigits("46900123456"), plan: try DeckFixture.plan("prefix,rate\n46,0.01\n"), account: .eur, at: Self.now
    )
    #expect(trace.blockedNumbers?.hasSuffix("numbers that begin +46900 are blocked") ?? false)
    #expect(try isPriced("+46900123456", deck: "prefix,rate\n46,0.01\n46900,2\n"))
    #expect(try isPriced("+46900123456", deck: "prefix,rate\n46,0.01\n469001,2\n"))
    // In whichever deck of the plan it stands.
    let decks = ["prefix,rate\n46,0.01\n", "prefix,rate\n46900,2\n"]
    let plan = try RatePlan(
      name: "two",
      try decks.enumerated().map { RatePlan.Entry(try DeckFixture.index($0.element, name: "deck\($0.offset)")) })
    let price = try Rating.quote(try NumberDigits("46900123456"), plan: plan, account: .eur, at: Self.now)
    #expect(price.prefix == "46900")
    // A row for another part of the range is no price for this number.
    #expect(try !isPriced("+46900123456", deck: "prefix,rate\n46,0.01\n469009,2\n"))
    #expect(try outcome("+46900123456", deck: "prefix,rate\n47,0.01\n") == .failure(.noRate))
  }

  @Test("an operator names a range: allowed, or denied within what is allowed; the longest prefix decides")
  func named() throws {
    let named = try DenyRanges([
      (prefix: try NumberDigits("469"), ruling: .allowed),
      (prefix: try NumberDigits("469009"), ruling: .denied(.revenueShare)),
    ])
    #expect(try isPriced("+46900123456", named: named))
    #expect(try outcome("+46900923456", named: named) == .failure(.destinationBlocked(.revenueShare)))
    #expect(try !isPriced("+46770123456", named: named))
  }
}
