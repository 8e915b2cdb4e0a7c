import AppProtocol
import CallEngine
import CallModel
import LedgerCore
import PeerKit
import SIPCore
import Testing

/// Countries that an account may call, and what it and its users may do within an hour.
@Suite("Countries and rules of an hour")
struct VelocityTests {
  /// Sweden, Norway and North America at 0.06 a minute, and a satellite network that the deck has a price for.
  private static let deck = """
    prefix,name,currency,rate,unit,fee,initial,increment,grace
    46,Sweden,EUR,0.06,60,0,60,1,0
    47,Norway,EUR,0.06,60,0,60,1,0
    1,North America,EUR,0.06,60,0,60,1,0
    8816,Satellite,EUR,6,60,0,60,1,0

    """
  private static let norway = "+4740612345"
  private static let satellite = "+881612345678"

  private func configuration(
    _ rules: [VelocityRule] = [], countries: EngineConfiguration.Countries = .any
  ) throws -> EngineConfiguration {
    var configuration = try Scene.configuration()
    configuration.limits.callsPerSession = 1000
    configuration.environments[0].countries = countries
    configuration.environments[0].callerCountries = [Scene.account: [46]]
    configuration.environments[0].velocity = rules
    return configuration
  }

  private func run(
    _ rules: [VelocityRule] = [], countries: EngineConfiguration.Countries = .any, caps: AccountCaps = AccountCaps(),
    credit: String = "1000", _ body: (PaidBench) async throws -> Void
  ) async throws {
    try await PaidBench.run(credit, caps: caps, configuration: try configuration(rules, countries: countries)) { paid in
      paid.bench.caller.payer.plan = try Scene.plan(VelocityTests.deck)
      paid.bench.caller.payer.countries = caps.countries
      try await body(paid)
    }
  }

  // MARK: Countries

  @Test("the first call to another country than the caller numbers' is refused, and the refusal says how to allow it")
  func otherCountry() async throws {
    try await run(countries: .ofCallerNumbers) { paid in
      #expect(try await paid.place() != nil)
      let invites = paid.bench.invites.count
      #expect(try await paid.place(Self.norway) == nil)
      let failure = try #require(paid.bench.lastRefusal)
      #expect(failure.code == .policy && failure.refusal == .countryNotAllowed)
      #expect(failure.invalidValue?.problem == "account acme may not call country code 47")
      #expect(
        failure.invalidValue?.accepted
          == "country codes 46; landline account set-cap acme --countries 46,47 allows it as well")
      #expect(paid.bench.invites.count == invites)
      paid.bench.request(.hangUp(try #require(paid.bench.engine.liveCalls.first).id))
      try await paid.settle()
    }
  }

  @Test(
    "an account's own list comes before the environment's, and that before the caller numbers",
    arguments: [
      (EngineConfiguration.Countries.ofCallerNumbers, [47], true), (.listed([46]), nil, false),
      (.listed([46, 47]), nil, true), (.any, nil, true), (.any, [46], false), (.listed([47]), [], false),
    ] as [(EngineConfiguration.Countries, [Int]?, Bool)])
  func order(_ countries: EngineConfiguration.Countries, _ own: [Int]?, _ isAllowed: Bool) async throws {
    try await run(countries: countries, caps: AccountCaps(countries: own)) { paid in
      let call = try await paid.place(Self.norway)
      #expect((call != nil) == isAllowed)
      if let call { try await paid.hangUp(call) }
    }
  }

  @Test("a country that shares the code of another is a country of its own")
  func sharedCode() async throws {
    try await run(countries: .listed([1])) { paid in
      try await paid.hangUp(try #require(try await paid.place("+12025550123")))
      #expect(try await paid.place("+18765550123") == nil)
      #expect(paid.bench.lastRefusal?.refusal == .countryNotAllowed)
      #expect(paid.bench.lastRefusal?.invalidValue?.accepted.contains("--countries 1,1876") == true)
    }
  }

  @Test("an account without caller numbers has no home: where nothing is configured it calls every country")
  func noNumbers() async throws {
    var configuration = try configuration(countries: .ofCallerNumbers)
    configuration.environments[0].callerCountries = [:]
    try await PaidBench.run("10", configuration: configuration) { paid in
      paid.bench.caller.payer.plan = try Scene.plan(VelocityTests.deck)
      try await paid.hangUp(try #require(try await paid.place(Self.norway)))
    }
  }

  @Test("test numbers and emergency calls belong to no country")
  func freeNumbers() async throws {
    try await run(countries: .listed([]), credit: "0") { paid in
      for target in ["+46000000000", "112"] {
        try await paid.hangUp(try #require(try await paid.place(target), "\(target)"))
      }
    }
  }

  // MARK: Calls

  @Test("so many calls in any 60 minutes, and not one more; the hour slides")
  func calls() async throws {
    let rule = VelocityRule(.account, to: .any, calls: 3, then: .refuse)
    try await run([rule]) { paid in
      for minute in 0..<3 {
        try await paid.hangUp(try #require(try await paid.place(), "\(minute)"))
        try await paid.pass(seconds: 900)
      }
      // 45 minutes after the first.
      #expect(try await paid.place() == nil)
      let failure = try #require(paid.bench.lastRefusal)
      #expect(failure.code == .limit && failure.refusal == .hourlyCap)
      #expect(failure.phrase == "account to all destinations: 3 calls in an hour")
      try await paid.pass(seconds: 14 * 60)
      #expect(try await paid.place() == nil, "59 minutes after the first")
      try await paid.pass(seconds: 11 * 60)
      try await paid.hangUp(try #require(try await paid.place(), "70 minutes after the first"))
      #expect(try await paid.place() == nil)
    }
  }

  @Test("a user's rule holds for each user; a call that the ledger refuses counts for none")
  func users() async throws {
    let rule = VelocityRule(.user, to: .any, calls: 1, then: .refuse)
    try await run([rule], countries: .listed([46])) { paid in
      #expect(try await paid.place(Self.norway) == nil)
      #expect(paid.bench.lastRefusal?.refusal == .countryNotAllowed)
      for user in ["alice", "bob"] {
        paid.bench.caller = try Scene.caller(paid.bench.caller.payer, user: user)
        try await paid.hangUp(try #require(try await paid.place(), "\(user)"))
        #expect(try await paid.place() == nil)
        #expect(paid.bench.lastRefusal?.refusal == .hourlyCap)
      }
    }
  }

  @Test("each kind of destination has its own count")
  func destinations() async throws {
    let rules = [VelocityRule.Destinations.domestic, .foreign, .premium, .sip].map {
      VelocityRule(.account, to: $0, calls: 1, then: .refuse)
    }
    var configuration = try configuration(rules)
    configuration.environments[0].sipHosts.reachesAny = true
    try await PaidBench.run("1000", configuration: configuration) { paid in
      paid.bench.caller.payer.plan = try Scene.plan(VelocityTests.deck)
      func place(_ target: String, _ kind: Destination.Kind) async throws -> CallID? {
        let number = paid.bench.request(.call(PlaceCall(kind: kind, target: target, offer: Scene.appOffer())))
        try await paid.settle()
        return paid.bench.placed(number)
      }
      for (target, kind) in [
        (Scene.phone, Destination.Kind.phone), (Self.norway, .phone), (Self.satellite, .phone), ("a@example.com", .sip),
      ] {
        try await paid.hangUp(try #require(try await place(target, kind), "\(target)"))
        #expect(try await place(target, kind) == nil, "\(target)")
        #expect(paid.bench.lastRefusal?.refusal == .hourlyCap)
      }
    }
  }

  // MARK: Spend

  @Test("what calls cost in an hour is never more than the rule says: the last ends where it would be passed")
  func spend() async throws {
    // 1,000 micro-units a second: room for 150 s of two calls together.
    let rule = VelocityRule(.account, to: .any, spendMicro: 150_000, then: .refuse)
    try await run([rule]) { paid in
      let first = try await paid.talk()
      let second = try await paid.talk()
      // Two minutes are held: there is no room for a third call, nor for a second grant.
      #expect(try await paid.place() == nil)
      #expect(paid.bench.lastRefusal?.refusal == .hourlyCap)
      try await paid.pass(seconds: 61)
      for call in [first, second] {
        let summary = try #require(paid.bench.summary(of: call))
        #expect(summary.failure?.refusal == .hourlyCap)
        #expect(summary.costMicro == 60_000)
        #expect(summary.durationMilliseconds == 60_000)
      }
      let warnings = paid.bench.ladder().filter { $0.hasPrefix("app credit ") }
      #expect(warnings.contains("app credit 5"), "\(warnings)")
      #expect(try await paid.charges() == [60_000, 60_000])
    }
  }

  @Test("what was held and not used has its room back")
  func givenBack() async throws {
    let rule = VelocityRule(.account, to: .any, spendMicro: 60_000, then: .refuse)
    try await run([rule]) { paid in
      for _ in 0..<5 { try await paid.hangUp(try #require(try await paid.place())) }
      let call = try await paid.talk()
      try await paid.pass(seconds: 1)
      try await paid.hangUp(call)
      #expect(paid.bench.summary(of: call)?.costMicro == 60_000)
      #expect(try await paid.place() == nil)
    }
  }

  @Test("an alarm is raised once in an hour, and the calls go on")
  func alarm() async throws {
    let rule = VelocityRule(.account, to: .any, calls: 2, then: .alarm)
    try await run([rule]) { paid in
      for _ in 0..<6 { try await paid.hangUp(try #require(try await paid.place())) }
      #expect(paid.bench.count("rule \(rule.text)") == 1)
      try await paid.pass(seconds: 4_300)
      for _ in 0..<3 { try await paid.hangUp(try #require(try await paid.place())) }
      #expect(paid.bench.count("rule \(rule.text)") == 2)
    }
  }

  // MARK: Locks

  @Test("a rule that locks asks the ledger once, with its reason; calls end when it is done, and begin anew after it")
  func lock() async throws {
    let rule = VelocityRule(.account, to: .foreign, calls: 2, then: .lock)
    try await run([rule]) { paid in
      let talk = try await paid.talk()
      for _ in 0..<2 { try await paid.hangUp(try #require(try await paid.place(Self.norway))) }
      for _ in 0..<3 { #expect(try await paid.place(Self.norway) == nil) }
      #expect(paid.bench.count("lock \(rule.text)") == 1)
      #expect(try await paid.place() == nil, "nothing begins while the ledger is asked")
      #expect(paid.bench.lastRefusal?.refusal == .accountLocked)
      try await paid.administer(.lock)
      paid.bench.feed(.lockAnswered(Scene.account, environment: "production", isLocked: true))
      try await paid.settle()
      #expect(paid.bench.summary(of: talk)?.failure?.refusal == .accountLocked)
      #expect(try await paid.place(Self.norway) == nil)
      try await paid.administer(.unlock)
      try await paid.hangUp(try #require(try await paid.place(Self.norway)))
    }
  }

  @Test("a lock that failed is asked for again with the next call; one dear call locks nobody")
  func failedLock() async throws {
    let rules = [
      VelocityRule(.account, to: .foreign, calls: 1, then: .lock),
      VelocityRule(.account, to: .premium, spendMicro: 1_000_000, then: .lock),
    ]
    try await run(rules) { paid in
      #expect(try await paid.place(Self.satellite) == nil)
      #expect(paid.bench.lastRefusal?.refusal == .hourlyCap)
      #expect(paid.bench.invites.isEmpty && paid.bench.ladder().allSatisfy { !$0.hasPrefix("lock") })
      #expect(try await paid.place(Self.satellite) == nil)
      try await paid.hangUp(try #require(try await paid.place(Self.norway)))
      for _ in 1...2 { #expect(try await paid.place(Self.norway) == nil) }
      #expect(paid.bench.count("lock \(rules[0].text)") == 1)
      paid.bench.feed(.lockAnswered(Scene.account, environment: "production", isLocked: false))
      #expect(try await paid.place(Self.norway) == nil)
      #expect(paid.bench.count("lock \(rules[0].text)") == 2)
    }
  }

  @Test("a table that is full counts users that come later together, and has room again when an hour is over")
  func fullTable() throws {
    let rules = [VelocityRule(.user, to: .any, calls: 1, then: .refuse)]
    var counter = VelocityCounter()
    func isAdmitted(_ user: String, at milliseconds: Int64) -> Bool {
      let verdict = counter.admit(
        rules, environment: "production", account: Scene.account, user: user, to: .domestic,
        at: MonotonicInstant(milliseconds: milliseconds))
      if case .admitted = verdict { return true }
      return false
    }
    for number in 0..<VelocityCounter.maximumHours { #expect(isAdmitted("user\(number)", at: 0)) }
    #expect(counter.hourCount == VelocityCounter.maximumHours)
    #expect(isAdmitted("late", at: 0))
    #expect(!isAdmitted("later", at: 0), "it shares the hour of the one before")
    #expect(!isAdmitted("user0", at: 0))
    #expect(counter.hourCount == VelocityCounter.maximumHours + 1)
    #expect(isAdmitted("later", at: 7 * VelocityCounter.slotMilliseconds))
    #expect(counter.hourCount == 1, "what is an hour old is gone")
  }

  @Test("a rule that stands against a grant stands to the call's end, whatever becomes of the account meanwhile")
  func standsToTheEnd() async throws {
    let rule = VelocityRule(.account, to: .any, spendMicro: 60_000, then: .refuse)
    try await run([rule]) { paid in
      let call = try await paid.talk()
      try await paid.pass(seconds: 56)
      let asked = paid.bench.count("ledger extend 1")
      #expect(asked == 1)
      paid.bench.feed(.accountChanged(Scene.account, environment: "production"))
      try await paid.settle()
      #expect(paid.bench.ladder().allSatisfy { $0 != "ledger extend 2" })
      try await paid.pass(seconds: 5)
      #expect(paid.bench.summary(of: call)?.durationMilliseconds == 60_000)
      #expect(paid.bench.summary(of: call)?.failure?.refusal == .hourlyCap)
    }
  }
}
