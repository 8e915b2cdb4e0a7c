import CallEngine
import CallModel
import PeerKit
import RoutingCore
import Testing

/// Numbers that fraud goes to, called by an account that nobody opened for them.
@Suite("Numbers of high risk")
struct HighRiskTests {
  /// Satellites, networks without a country, premium numbers, and countries that head the lists of fraud.
  static let prefixes = [
    "870", "8810", "8812", "8816", "8818", "8821", "88213", "88216", "88299", "883", "979", "808", "878", "888", "225",
    "232", "252",
    "257", "269", "2609", "371", "37249", "3816", "447", "5068", "5399", "6723", "675", "677", "678", "682", "686",
    "688", "690", "960",
  ]

  private static func number(_ prefix: String, _ index: Int) -> String {
    "+" + prefix + String(repeating: "\(index % 9 + 1)", count: 12 - prefix.count)
  }

  /// A deck that has a price for all of them, so that nothing but the denied ranges stands in the way.
  private static func bench(denied: Bool) throws -> Bench {
    let deck =
      "prefix,name,currency,rate,unit,fee,initial,increment,grace\n"
      + (1...9).map { "\($0),Everything,EUR,0.06,60,0,60,1,0\n" }.joined()
    let bench = try Bench()
    var payer = try Scene.payer(Scene.plan(deck))
    payer.denyRanges =
      denied
      ? try DenyRanges(prefixes.map { (prefix: try NumberDigits($0), ruling: DenyRanges.Ruling.denied(.premium)) })
      : .none
    bench.caller = try Scene.caller(payer)
    return bench
  }

  @Test("are not connected, and no trunk and no credit is asked")
  func refused() throws {
    var connected: [String] = []
    var tried = 0
    for prefix in Self.prefixes {
      for index in 0..<10 {
        let number = Self.number(prefix, index)
        guard (try? E164Number(number)) != nil else { continue }
        let bench = try Self.bench(denied: true)
        tried += 1
        bench.place(number)
        if !bench.invites.isEmpty { connected.append(number) }
      }
    }
    #expect(connected.isEmpty, "\(connected.prefix(10))")
    #expect(tried >= 100)
    // Without the ranges the same deck connects a country: the ranges are what keeps it out.
    let open = try Self.bench(denied: false)
    open.place(Self.number("252", 1))
    #expect(open.invites.count == 1)
    try ScoreboardRow(
      "X1", figure: "\(connected.count)", unit: "connected", target: "= 0", passed: connected.isEmpty && tried >= 100,
      detail: "\(tried) numbers of \(Self.prefixes.count) denied ranges, with a price for each", gate: true
    ).record()
  }
}
