import CallModel
import RoutingCore
import TestVectors
import Testing

@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct RateVectorTests {
  /// The value of `numerator` sixtieths of nano-units at five decimals: up, half up, half even.
  private static func roundings(_ numerator: Int64) -> [Int64] {
    let unit: Int64 = 600_000
    let (whole, rest) = numerator.quotientAndRemainder(dividingBy: unit)
    return [
      rest > 0 ? whole + 1 : whole, rest * 2 >= unit ? whole + 1 : whole,
      rest * 2 > unit || (rest * 2 == unit && whole % 2 == 1) ? whole + 1 : whole,
    ]
  }

  @Test func theASTPPDeckPricesEveryCaseExactly() throws {
    let deck = try DeckFixture.read(try TestVectors.text("rates/astpp-outbound.csv"), currency: .usd)
    #expect(deck.rows.count == 36_205)
    let index = RateIndex(deck, at: .distantPast)
    let plan = try RatePlan(name: "outbound", [RatePlan.Entry(index)])
    var priced = 0
    var refused = 0
    for row in try TestVectors.table("rates/rating-cases.tsv") {
      let number = try NumberDigits((row["number"] ?? "").dropFirst())
      let seconds = try #require(Int64(row["duration_s"] ?? ""))
      let place: Comment = "\(row)"
      if row["matched_prefix"] == "" {
        refused += 1
        #expect(index.match(number, at: .distantPast) == nil, place)
        #expect(throws: RatingRefusal.noRate, place) {
          try Rating.quote(number, plan: plan, account: .usd, at: Instant(seconds: 0))
        }
        continue
      }
      priced += 1
      let match = try #require(index.match(number, at: .distantPast), place)
      #expect(match.prefix.description == row["matched_prefix"], place)
      #expect(index.name(of: match) == row["destination"], place)
      let tariff = try #require(index.tariff(of: match), place)
      #expect(
        tariff.tiers[0].ratePerMinute == (try NanoUnits(parsing: row["rate_per_minute"] ?? "")),
        place)
      #expect(String(tariff.billedSeconds(seconds)) == row["billed_seconds"], place)
      // The fraction counts 1/6,000,000 of a unit; a sixtieth of a nano-unit is 10,000 times smaller.
      let fraction = try #require(row["exact_cost"]?.split(separator: "/").first.flatMap { Int64($0) }, place)
      #expect(tariff.exactCost(seconds: seconds) == NanoSixtieths(fraction * 10_000), place)
      let texts = (row["cost_5_decimals_up|half_up|half_even"] ?? "").split(separator: "|")
        .map { $0.filter { $0 != " " } }
      let wanted = try texts.map { try DecimalText.parse($0, scale: 5) }
      #expect(Self.roundings(tariff.exactCost(seconds: seconds).count) == wanted, place)
    }
    #expect(priced + refused == 300)
    #expect(refused >= 5)
  }

  @Test func incrementsBillTheStatedSeconds() throws {
    let rows = try TestVectors.table("rates/increments.tsv")
    #expect(rows.count >= 60)
    for row in rows {
      let parts = (row["minimum/increment"] ?? "").split(separator: "/").compactMap { Int64($0) }
      let seconds = try #require(Int64(row["duration_s"] ?? ""))
      let tariff = try Tariff(ratePerMinute: 1, initial: parts[0], increment: parts[1])
      #expect(String(tariff.billedSeconds(seconds)) == row["billed_s"], "\(row)")
    }
  }

  /// `60s` and `60` as seconds.
  private static func seconds(_ text: Substring) -> Int64? { Int64(text.last == "s" ? text.dropLast() : text) }

  /// The tariffs of a file of rate groups, each line a tier.
  private static func groupedTariffs(_ path: String) throws -> [String: Tariff] {
    var lines: [String: [[Substring]]] = [:]
    for line in try TestVectors.text(path).split(whereSeparator: \.isNewline) where line.first != "#" {
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      lines[String(cells[0]), default: []].append(cells)
    }
    return try lines.mapValues { groups in
      let tiers = try groups.map { cells in
        let unit = try #require(seconds(cells[3]))
        return Tariff.Tier(
          fromSecond: try #require(seconds(cells[5])),
          ratePerMinute: try NanoUnits(parsing: cells[2]) * 60 / unit,
          increment: try #require(seconds(cells[4])))
      }
      return try Tariff(
        tiers: tiers, initial: 0, fee: try NanoUnits(parsing: groups[0][1]))
    }
  }

  @Test func groupedRatesCostTheStatedAmounts() throws {
    let tariffs = try Self.groupedTariffs("rates/cgrates-tutorial/Rates.csv")
    let rows = try TestVectors.table("rates/cgrates-tutorial/cases.tsv")
    #expect(rows.count == 35)
    for row in rows {
      let tariff = try #require(tariffs[row["rate_id"] ?? ""], "\(row)")
      let seconds = try #require(Int64(row["duration_s"] ?? ""))
      let unit: Int64 = 6_000_000
      let (whole, rest) = tariff.exactCost(seconds: seconds).count.quotientAndRemainder(dividingBy: unit)
      let wanted = try DecimalText.parse(row["cost_up_4_decimals"] ?? "", scale: 4)
      #expect(whole + (rest > 0 ? 1 : 0) == wanted, "\(row)")
    }
  }

  @Test func aHundredTwoTierRatesBecomeADeck() throws {
    let tariffs = try Self.groupedTariffs("rates/cgrates-hundredrates/Rates.csv")
    var prefixes: [String: String] = [:]
    for line in try TestVectors.text("rates/cgrates-hundredrates/Destinations.csv").split(whereSeparator: \.isNewline)
    where line.first != "#" {
      let cells = line.split(separator: ",")
      prefixes["RT_\(cells[0].dropFirst(4))"] = String(cells[1])
    }
    var text = "prefix,name,rate,fee,initial,increment,tier\n"
    var expected = 0
    for (name, prefix) in prefixes.sorted(by: { $0.key < $1.key }) {
      guard let tariff = tariffs[name] else { continue }
      expected += 1
      for tier in tariff.tiers {
        let fee = tier.fromSecond == 0 ? tariff.fee.decimal : ""
        text +=
          "\(prefix),\(name),\(tier.ratePerMinute.decimal),\(fee),0,\(tier.increment),\(tier.fromSecond)\n"
      }
    }
    #expect(expected >= 50)
    let index = try DeckFixture.index(text)
    #expect(index.prefixCount == expected)
    for (name, prefix) in prefixes {
      guard let tariff = tariffs[name] else { continue }
      let match = try #require(index.match(try NumberDigits(prefix + "5551234"), at: .distantPast))
      #expect(index.name(of: match) == name)
      #expect(index.tariff(of: match) == tariff)
    }
  }

  @Test func destinationNamesMatchByLongestPrefix() throws {
    var names: [String: String] = [:]
    var text = "prefix,destination,rate\n"
    for line in try TestVectors.text("rates/a2billing-prefixes.csv").split(whereSeparator: \.isNewline).dropFirst() {
      guard let comma = line.firstIndex(of: ",") else { continue }
      let prefix = String(line[..<comma])
      let name = String(line[line.index(after: comma)...])
      if names.updateValue(name, forKey: prefix) == nil { text += "\(line),0\n" }
    }
    let index = try DeckFixture.index(text)
    #expect(index.prefixCount == names.count)
    var generator = SeededGenerator(seed: 3)
    for prefix in names.keys.sorted() {
      let tail = String(Int.random(in: 100...999_999, using: &generator))
      let number = String((prefix + tail).prefix(15))
      var wanted: String?
      for length in stride(from: number.count, through: 1, by: -1) where wanted == nil {
        wanted = names[String(number.prefix(length))]
      }
      let match = try #require(index.match(try NumberDigits(number), at: .distantPast))
      #expect(index.name(of: match) == wanted, "\(number)")
    }
  }
}
