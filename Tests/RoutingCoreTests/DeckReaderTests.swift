import CallModel
import RoutingCore
import Testing

@Suite struct DeckReaderTests {
  #if DEBUG
    static let mutations = 1000
  #else
    static let mutations = 10_000
  #endif

  @Test func everyColumnIsRead() throws {
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: try CivilZone("Europe/Stockholm"))
    let deck = try DeckFixture.read(
      """
      prefix,name,currency,rate,unit,fee,initial,increment,grace,min_charge,free_seconds,effective_from,effective_to,time_class,from_second,max_seconds,max_cost,flags
      +4670,"Sweden ""mobile"", all",EUR,0.0145,60,0.1,60,1,2,0.02,5,2026-11-01,2026-12-01T00:00:00.250+01:00,peak,0,7200,9.5,split max-cost-free|half-even
      4670,Åland,EUR,0.000241667,1,0.1,60,1,2,0.02,5,2026-11-01,2026-12-01T00:00:00.250+01:00,,0,7200,9.5,split max-cost-free half-even

      46, x ,,1,,,,,,,,,,,,,,at-answer
      """, timeClasses: classes)
    let rows = Array(deck.rows)
    #expect(rows.map(\.prefix.description) == ["46", "4670", "4670"])
    #expect(rows[0].name == "x")
    #expect(rows[0].terms == RateTerms(ratePerMinute: 1_000_000_000))
    var terms = RateTerms(
      ratePerMinute: 14_500_020, initial: 60, increment: 1, fee: 100_000_000, grace: 2, minimumCharge: 20_000_000,
      freeSeconds: 5, effectiveFrom: try DeckFixture.instant("2026-10-31", hour: 23).milliseconds,
      effectiveUntil: try DeckFixture.instant("2026-11-30", hour: 23).milliseconds + 250, maximumSeconds: 7200,
      maximumCost: 9_500_000_000, flags: [.split, .maximumCostFree, .halfEven])
    #expect(rows[1].name == "Åland")
    #expect(rows[1].terms == terms)
    terms.ratePerMinute = 14_500_000
    terms.timeClass = 1
    #expect(rows[2].name == "Sweden \"mobile\", all")
    #expect(rows[2].terms == terms)
  }

  /// Header and row in, terms out.
  @Test(arguments: [
    (
      "Code,Destination,Connection Cost,Grace Time,Cost/Min,Initial Increment,Increment\n46,x,0.1,3,0.5,60,6",
      RateTerms(ratePerMinute: 500_000_000, initial: 60, increment: 6, fee: 100_000_000, grace: 3)
    ),
    (
      "prefix,destination,connect_cost,included_seconds,rate_per_minute,increment_seconds\n46,x,0.1,3,0.5,6",
      RateTerms(ratePerMinute: 500_000_000, initial: 6, increment: 6, fee: 100_000_000, freeSeconds: 3)
    ),
    (
      "dialprefix;rateinitial;initblock;billingblock;connectcharge;minimal_cost;destination;startdate;stopdate\n"
        + "46;0.5;30;6;0.1;0.2;x;2026-01-01;2027-01-01",
      RateTerms(
        ratePerMinute: 500_000_000, initial: 30, increment: 6, fee: 100_000_000, minimumCharge: 200_000_000,
        effectiveFrom: 1_767_225_600_000, effectiveUntil: 1_798_761_600_000)
    ),
    (
      "Dial-Prefix\tDESTINATION\tConnection Fee\tRate per minute\tInitial increment\tNext increment\tMinimum charge"
        + "\tEffective from\tEffective until\n46\tx\t0.1\t0.5\t30\t6\t0.2\t2026-01-01\t2027-01-01",
      RateTerms(
        ratePerMinute: 500_000_000, initial: 30, increment: 6, fee: 100_000_000, minimumCharge: 200_000_000,
        effectiveFrom: 1_767_225_600_000, effectiveUntil: 1_798_761_600_000)
    ),
    (
      "prefix,name,initial_rate,initial_interval,next_rate,next_interval,connect_fee,reject_calls\n46,x,0.5,60,0.5,6,0.1,t",
      RateTerms(ratePerMinute: 500_000_000, initial: 60, increment: 6, fee: 100_000_000, flags: .blocked)
    ),
    ("prefix,name,rate\n46,x,0.5", RateTerms(ratePerMinute: 500_000_000, initial: 1, increment: 1)),
    ("prefix,name,rate,initial\n46,x,0.5,30", RateTerms(ratePerMinute: 500_000_000, initial: 30, increment: 30)),
    ("prefix,name,rate,initial\n46,x,0.5,0", RateTerms(ratePerMinute: 500_000_000, initial: 0, increment: 1)),
    ("prefix,name,rate,flags\n46,x,,blocked", RateTerms(ratePerMinute: 0, flags: .blocked)),
  ])
  func theFieldsDecksAreRead(text: String, terms: RateTerms) throws {
    let deck = try DeckFixture.read(text)
    #expect(deck.rows.map(\.terms) == [terms])
    #expect(deck.rows.map(\.name) == ["x"])
  }

  @Test func aRateOfItsOwnAfterTheInitialIncrementIsASecondTier() throws {
    let index = try DeckFixture.index(
      "prefix,initial_rate,initial_interval,next_rate,next_interval,connect_fee,valid_from,valid_till\n46,0.6,60,0.3,1,0.1,,\n"
    )
    #expect(index.deck.rows.count == 2)
    let match = try #require(index.match(try NumberDigits("46701"), at: .distantPast))
    let tariff = try #require(index.tariff(of: match))
    let costs: [(seconds: Int64, MicroUnits)] = [
      (0, 0), (1, 700_000), (60, 700_000), (61, 705_000), (120, 1_000_000),
    ]
    for (seconds, micros) in costs {
      #expect(tariff.cost(seconds: seconds) == micros)
    }
  }

  @Test(arguments: [1, 2, 3, 7, 64, 1000])
  func chunksOfAnySizeReadTheSame(chunk: Int) throws {
    var text = "\u{FEFF}prefix;\"na\"\"me\";rate;increment\r\n".replacing("na\"\"me", with: "name")
    for number in 0..<300 { text += "\(46_000 + number);\"a;\"\"\(number)\"\"\";0.\(number);\(number % 60 + 1)\r\n" }
    let deck = try DeckFixture.read(text, chunk: chunk)
    #expect(deck.rows.count == 300)
    #expect(deck == (try DeckFixture.read(text)))
    #expect(deck.rows[7].name == "a;\"7\"")
  }

  @Test func progressIsReadableBetweenChunks() throws {
    var reader = DeckReader(settings: try DeckSettings(name: "d", version: "1", currency: .eur))
    func feed(_ text: String) { Array(text.utf8).withUnsafeBytes { reader.feed($0) } }
    feed("prefix,rate\n46,1\n47,")
    #expect(reader.byteCount == 20)
    #expect(reader.rowCount == 1)
    feed("x\n48")
    #expect(reader.rowCount == 2)
    #expect(reader.errorCount == 1)
  }

  /// Text, then line, column, column name and rule of each fault.
  static let faults: [(text: String, faults: [String])] = [
    ("", ["1:1 prefix csv.header"]),
    ("\n\r\n", ["1:1 prefix csv.header"]),
    ("prefix,rate\n", ["1:1 prefix deck.empty"]),
    ("name,rate\n", ["1:1 prefix deck.column-missing"]),
    ("prefix\n46\n", ["1:1 rate deck.column-missing"]),
    ("prefix,rate,colour\n46,1,red\n", ["1:13 colour deck.column"]),
    ("prefix,rate,rate per minute\n46,1,1\n", ["1:13 rate deck.column-twice"]),
    ("prefix,rate,next_rate\n46,1,1\n", ["1:1 rate deck.column-twice"]),
    ("prefix,next_rate\n46,1\n", ["1:1 initial_rate deck.column-missing"]),
    ("prefix,initial_rate,next_rate,tier\n46,1,1,0\n", ["1:1 from_second deck.column-twice"]),
    ("prefix,rate\n,1\n", ["2:1 prefix deck.prefix"]),
    ("prefix,rate\n+,1\n", ["2:2 prefix deck.prefix"]),
    ("prefix,rate\n46x,1\n", ["2:3 prefix deck.prefix"]),
    ("prefix,rate\n46*,1\n", ["2:3 prefix deck.prefix"]),
    ("prefix,rate\n 4 6,1\n", ["2:3 prefix deck.prefix"]),
    ("prefix,rate\n1234567890123456,1\n", ["2:16 prefix deck.prefix"]),
    ("prefix,rate\n46,-1\n", ["2:4 rate amount.negative"]),
    ("prefix,rate\n46,NaN\n", ["2:4 rate amount.character"]),
    ("prefix,rate\n46,1e3\n", ["2:5 rate amount.character"]),
    ("prefix,rate\n46,\"1,5\"\n", ["2:6 rate amount.character"]),
    ("prefix,rate\n46,0.0000000001\n", ["2:15 rate amount.scale"]),
    ("prefix,rate\n46,1.\n", ["2:6 rate amount.digits"]),
    ("prefix,rate\n46,.5\n", ["2:4 rate amount.character"]),
    ("prefix,rate\n46,100000.000000001\n", ["2:4 rate amount.range"]),
    ("prefix,rate\n46,99999999999999999999\n", ["2:22 rate amount.range"]),
    ("prefix,rate\n46,\n", ["2:4 rate deck.rate"]),
    ("prefix,rate,unit\n46,1,7\n", ["2:4 rate deck.unit"]),
    ("prefix,rate,unit\n46,99999,1\n", ["2:4 rate amount.range"]),
    ("prefix,rate,unit\n46,1,0\n", ["2:6 unit seconds.range"]),
    ("prefix,rate,increment\n46,1,0\n", ["2:6 increment seconds.range"]),
    ("prefix,rate,increment\n46,1,1.5\n", ["2:7 increment seconds.character"]),
    ("prefix,rate,initial\n46,1,99999999999\n", ["2:6 initial seconds.range"]),
    ("prefix,rate,fee,max_cost\n46,1,2,1\n", ["2:8 max_cost tariff.maximum"]),
    (
      "prefix,rate,currency\n46,1,EUR\n47,1,USD\n48,1,eur\n",
      ["3:6 currency deck.currency", "4:6 currency currency.code"]
    ),
    ("prefix,rate,effective_from\n46,1,2026-02-30\n", ["2:6 effective_from deck.instant"]),
    ("prefix,rate,effective_from\n46,1,2026-02-20 10:00\n", ["2:16 effective_from deck.instant"]),
    ("prefix,rate,effective_from\n46,1,2026-02-20T10:00:00\n", ["2:25 effective_from deck.instant"]),
    ("prefix,rate,effective_from,effective_to\n46,1,2026-02-20,2026-02-20\n", ["2:17 effective_to deck.window"]),
    ("prefix,rate,time_class\n46,1,peek\n", ["2:6 time_class deck.time-class"]),
    ("prefix,rate,flags\n46,1,split free\n", ["2:12 flags deck.flags"]),
    ("prefix,rate,flags\n46,1,split at-answer\n", ["2:6 flags deck.flags"]),
    ("prefix,rate,reject_calls\n46,1,maybe\n", ["2:6 reject_calls deck.boolean"]),
    ("prefix,rate\n46\n", ["2:3 rate csv.columns"]),
    ("prefix,rate\n46,1,2\n", ["2:6  csv.columns"]),
    ("prefix,name,rate\n46,\"x,1\n47,y,1\n", ["2:4 name csv.quote"]),
    ("prefix,name,rate\n46,\"x\"y,1\n", ["2:7 name csv.quote"]),
    ("prefix,name,rate\n46,Å\"y,1\n", ["2:5 name csv.quote"]),
    ("prefix,name,rate\n46,Å\u{1}y,1\n", ["2:5 name deck.name-character"]),
    ("prefix,name,rate\n46,x,1\n46,y,2\n", ["3:1 prefix deck.duplicate"]),
    (
      "prefix,rate,effective_from\n46,1,2026-01-01\n46,1,2026-02-01\n", ["3:1 effective_from deck.overlap"]
    ),
    ("rate,prefix,tier\n1,46,60\n", ["2:3 from_second deck.first-tier"]),
    ("prefix,rate,increment,tier\n46,1,7,0\n46,1,1,60\n", ["3:1 from_second tariff.tier"]),
    ("prefix,rate,tier\n46,1,0\n46,1,1\n46,1,2\n46,1,3\n46,1,4\n", ["6:1 from_second deck.tiers"]),
    ("prefix,rate,time_class\n46,1,peak\n", ["2:1 time_class deck.class-gap"]),
    (
      "prefix,rate,time_class,flags\n46,1,peak,split\n46,1,,\n", ["2:1 flags deck.split"]
    ),
    (
      "prefix,rate,time_class,fee,flags\n46,1,peak,1,split\n46,1,,2,split\n", ["2:1 flags deck.split"]
    ),
    (
      "prefix,rate,increment\nx,1,1\n46,-1,0\n47,1,1\n47,1,1\n",
      [
        "2:1 prefix deck.prefix", "3:4 rate amount.negative", "3:7 increment seconds.range",
        "5:1 prefix deck.duplicate",
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func everyFaultIsFoundWithItsPlace(row: Int) throws {
    let (text, faults) = Self.faults[row]
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: .utc)
    let refusal = try DeckFixture.refusal(text, timeClasses: classes)
    #expect(refusal?.errors.map { "\($0.line):\($0.column) \($0.columnName) \($0.rule)" } == faults, "\(text)")
    #expect(refusal?.total == faults.count)
    for error in refusal?.errors ?? [] {
      #expect(!error.accepted.isEmpty)
      #expect(!error.problem.isEmpty)
    }
  }

  @Test func anUnknownColumnIsAnsweredWithTheClosestName() throws {
    for (header, column) in [("prefx", "prefix"), ("Incremnt", "increment"), ("conection fee", "fee")] {
      let error = try #require(try DeckFixture.refusal("\(header),rate\n")?.errors.first)
      #expect(error.problem.contains("did you mean \(column)?"), "\(error)")
    }
    let far = try #require(try DeckFixture.refusal("prefix,rate,zzzzzzzzz\n")?.errors.first)
    #expect(!far.problem.contains("did you mean"))
  }

  @Test func withoutACurrencyThereIsNoDeck() throws {
    #expect(try DeckFixture.refusal("prefix,rate\n46,1\n", currency: nil)?.errors.first?.rule == "deck.currency")
    #expect(
      try DeckFixture.refusal("prefix,rate,currency\n46,1,\n", currency: nil)?.errors.first?.rule == "deck.currency")
    #expect(try DeckFixture.read("prefix,rate,currency\n46,1,USD\n47,1,\n", currency: nil).currency == .usd)
  }

  @Test func faultsBeyondTheLimitAreCounted() throws {
    var text = "prefix,rate\n"
    for _ in 0..<250 { text += "x,1\n" }
    let refusal = try #require(try DeckFixture.refusal(text))
    #expect(refusal.errors.count == DeckRefusal.maximumErrors)
    #expect(refusal.total == 250)
    #expect(refusal.description.hasSuffix("and 150 more"))
  }

  @Test(arguments: [1, 100, 5000, Int.max])
  func aLineThatIsTooLongIsRefusedAndSkipped(chunk: Int) throws {
    let long = String(repeating: "x", count: 3 * DeckReader.maximumLineBytes)
    let bytes = Array("prefix,name,rate\n46,\(long),1\nx,y,1\n".utf8)
    do {
      _ = try DeckFixture.read(
        bytes, settings: try DeckSettings(name: "d", version: "1", currency: .eur), chunk: chunk)
      Issue.record("the deck was accepted")
    } catch let refusal as DeckRefusal {
      #expect(refusal.errors.map(\.rule) == ["csv.line-length", "deck.prefix"])
      #expect(refusal.errors.map(\.line) == [2, 3])
    }
  }

  @Test func mutatedDecksNeverTrap() throws {
    let seed: UInt64 = 99
    var generator = SeededGenerator(seed: seed)
    let classes = try TimeClasses(parsing: "peak=Mon-Fri 08:00-20:00", zone: try CivilZone("Europe/Stockholm"))
    let settings = try DeckSettings(name: "d", version: "1", currency: .eur, timeClasses: classes)
    let good = Array(
      """
      prefix,name,currency,rate,unit,fee,initial,increment,grace,min_charge,free_seconds,effective_from,effective_to,time_class,from_second,max_seconds,max_cost,flags
      46,"Sweden ""all"" x",EUR,0.0145,60,0.1,60,1,2,0.02,5,2026-11-01,2026-12-01T00:00:00Z,peak,0,7200,9.5,split
      46,Åland,EUR,0.0145,60,0.1,60,1,2,0.02,5,2026-11-01,2026-12-01T00:00:00Z,,0,7200,9.5,split
      4670,x,EUR,1,1,0,30,6,0,0,0,,,,0,,,max-cost-free
      4670,x,EUR,0.5,,0,30,6,0,0,0,,,,60,,,max-cost-free

      """.utf8)
    let alphabet = Array("0123456789.,;\"\r\n\t+-xTZ: \u{FF}".utf8) + [0, 0x80, 0xFF]
    var accepted = 0
    for _ in 0..<Self.mutations {
      var bytes = good
      for _ in 0...Int.random(in: 0..<4, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let byte = alphabet.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] = byte
        case 1: bytes.insert(byte, at: place)
        case 2: bytes.remove(at: place)
        default:
          bytes.replaceSubrange(place..<min(place + 9, bytes.count), with: good[..<min(place, good.count)].suffix(30))
        }
      }
      do {
        let deck = try DeckFixture.read(bytes, settings: settings, chunk: Int.random(in: 1...400, using: &generator))
        accepted += 1
        let plan = try RatePlan(name: "p", [RatePlan.Entry(RateIndex(deck, at: .distantPast))])
        for row in deck.rows {
          let trace = Rating.explain(row.prefix, plan: plan, account: .eur, at: try DeckFixture.instant("2026-11-22"))
          if case .failure(.unpriceable(let problem)) = trace.outcome { Issue.record("seed \(seed): \(problem)") }
        }
      } catch let refusal as DeckRefusal {
        #expect(refusal.total > 0)
      }
    }
    #expect(accepted > 10)
  }
}
