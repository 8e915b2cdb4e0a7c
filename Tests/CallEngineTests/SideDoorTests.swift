import AppProtocol
import CallEngine
import CallModel
import PeerKit
import SIPCore
import Testing

/// Ways by which a call could leave without its price.
@Suite("Side doors of the money")
struct SideDoorTests {
  // MARK: Short codes

  @Test("short codes that are no emergency numbers of the caller's country are refused before anything is asked")
  func shortCodes() throws {
    let bench = try Bench()
    let elsewhere = EmergencyNumber.known.subtracting(EmergencyNumber.codes(ofCaller: try E164Number(Scene.ours)))
    #expect(elsewhere.isSuperset(of: ["100", "118", "190", "911"]))
    for code in elsewhere {
      #expect(bench.place(code) == nil, "\(code)")
      #expect(bench.lastRefusal?.code == .number, "\(code)")
    }
    let left = bench.invites.count
    #expect(bench.asked.isEmpty && left == 0)
    #expect(bench.place("112") != nil)
    try ScoreboardRow(
      "X7", figure: "\(left)", unit: "calls that left", target: "= 0", passed: left == 0,
      detail: "\(elsewhere.count) codes", gate: true
    ).record()
  }

  @Test("REST reaches no emergency number of another country, and none as the first destination")
  func originatedShortCodes() throws {
    let bench = try Bench()
    func originate(_ first: Destination, _ second: Destination) -> Int {
      bench.feed(
        .originate(
          OriginationID(1),
          Origination(
            first: first, second: second, callerNumber: try? E164Number(Scene.ours), payer: bench.caller.payer)))
      return bench.engine.liveCalls.count
    }
    let phone = Destination.phone(try E164Number(Scene.phone))
    for code in ["100", "118", "190", "911"] {
      #expect(originate(phone, .emergency(try EmergencyNumber(code))) == 0, "\(code)")
      #expect(originate(.emergency(try EmergencyNumber(code)), phone) == 0, "\(code)")
    }
    #expect(originate(.emergency(try EmergencyNumber("112")), phone) == 0)
    #expect(bench.asked.isEmpty && bench.invites.isEmpty)
    #expect(originate(phone, .emergency(try EmergencyNumber("112"))) == 1)
  }

  @Test("a short code that the environment names is free, and 112 is not where it names others")
  func namedCodes() throws {
    var configuration = try Scene.configuration()
    configuration.environments[0].emergencyNumbers = ["118", "4444"]
    let bench = try Bench(configuration)
    #expect(bench.place("118") != nil)
    #expect(bench.place("4444") != nil)
    #expect(bench.place("112") == nil)
    #expect(bench.lastRefusal?.invalidValue?.rule == "emergency.code")
  }

  @Test("emergency calls have a cap of their own, an account's together, and no other cap holds for them")
  func emergencyCap() throws {
    var configuration = try Scene.configuration()
    configuration.limits.callsPerSession = 1
    configuration.environments[0].emergencyCalls = 3
    let bench = try Bench(configuration)
    #expect(bench.place() != nil)
    for number in 1...3 {
      bench.session = SessionID(UInt64(number))
      #expect(bench.place("112") != nil, "\(number)")
    }
    bench.session = SessionID(4)
    #expect(bench.place("112") == nil)
    #expect(bench.lastRefusal?.refusal == .concurrencyCap)
    bench.session = SessionID(3)
    bench.request(.hangUp(try #require(bench.engine.liveCalls.last { $0.destination == "112" }).id))
    bench.hungUp(3)
    #expect(bench.place("112") != nil, "a call that ended leaves its place")
  }

  @Test("emergency calls go over the trunks that are named for them, in that order")
  func emergencyTrunks() throws {
    var configuration = try Scene.configuration()
    // The second one has the worse priority.
    configuration.environments[0].emergencyTrunks = ["carrier-2", "carrier-1"]
    let bench = try Bench(configuration)
    #expect(bench.place("112") != nil)
    #expect(bench.place() != nil)
    #expect(bench.invites.map(\.call.target.host) == [.ipv4(0xC633_6402), .ipv4(0xC633_6401)])
    bench.fail(503)
    #expect(bench.invites.last?.call.target.host == .ipv4(0xC633_6401))
    #expect(bench.invites.last?.call.target.user == "112")
  }

  @Test("a number of the sandbox plays an emergency number, and reaches nobody else")
  func sandboxEmergency() throws {
    var configuration = try Scene.configuration()
    configuration.limits.callsPerSession = 1
    configuration.environments[1].emergencyCalls = 2
    let bench = try Bench(configuration)
    bench.caller.payer = try Scene.payer(nil, environment: "sandbox")
    bench.plain.credit = 0
    #expect(bench.place("+46000000112") != nil)
    #expect(bench.place("+46000000112") != nil, "no cap but its own")
    #expect(bench.place("+46000000112") == nil)
    #expect(bench.engine.liveCalls.allSatisfy { $0.trunk == CallTrunk.farEnd })
    #expect(bench.invites.allSatisfy { $0.call.target.host == .ipv4(0x7F00_0001) })
  }

  // MARK: SIP addresses

  @Test("without hosts no SIP address is called; a listed one is, and 'any' is every public one")
  func sipHosts() throws {
    func place(_ target: String, _ hosts: EngineConfiguration.SIPHosts) throws -> Bool {
      var configuration = try Scene.configuration()
      configuration.environments[0].sipHosts = hosts
      return try Bench(configuration).place(target, kind: .sip) != nil
    }
    let hosts = ["example.com", "8.8.8.8", "[2001:4860:4860::8888]", "sip.example.org"]
    let reached = try hosts.filter { try place("alice@\($0)", .init()) }
    #expect(reached.isEmpty, "\(reached)")
    try ScoreboardRow(
      "X8", figure: "\(reached.count)", unit: "reached", target: "= 0", passed: reached.isEmpty,
      detail: "\(hosts.count) hosts, none named", gate: true
    ).record()
    #expect(try place("alice@example.com", .init(listed: ["example.com"])))
    #expect(try !place("alice@example.org", .init(listed: ["example.com"])))
    #expect(try place("alice@example.org", .init(listed: ["example.com"], reachesAny: true)))
    #expect(try !place("alice@10.0.0.1", .init(reachesAny: true)))
    #expect(try place("alice@10.0.0.1", .init(listed: ["10.0.0.1"])))
  }

  @Test(
    "a call to a SIP address costs what the environment says, over a trunk too, and needs credit",
    arguments: [true, false])
  func sipRate(hasCredit: Bool) throws {
    var configuration = try Scene.configuration()
    configuration.environments[0].sipHosts.reachesAny = true
    configuration.environments[0].sipRatePerMinute = 60_000_000
    let bench = try Bench(configuration)
    if !hasCredit { bench.plain.credit = 0 }
    for target in ["alice@example.com", "alice@198.51.100.1"] {
      #expect((bench.place(target, kind: .sip) != nil) == hasCredit, "\(target)")
    }
    #expect(bench.invites.count == (hasCredit ? 2 : 0))
    if hasCredit { #expect(bench.plain.credit == 999_880_000) }
  }

  // MARK: Redirections

  @Test("a redirection is followed only where the caller could have called, for no more than is held")
  func redirections() throws {
    var configuration = try Scene.configuration(maximumRedirections: 3)
    configuration.environments[0].sipHosts = .init(listed: ["pbx.example.com"], reachesAny: true)
    // A trunk of another environment, at a public address.
    configuration.trunks.append(try Scene.trunk("foreign", host: 0x0101_0101))
    let bench = try Bench(configuration)
    #expect(bench.place() != nil)
    let allows = bench.invites[0].call.allowsRedirection
    let trunk = SIPHost.ipv4(0xC633_6401)
    func isFollowed(_ user: String, _ host: SIPHost = trunk) -> Bool {
      allows(SIPURI(scheme: .sip, user: user, host: host))
    }
    #expect(isFollowed("+46709876543"))
    #expect(isFollowed("46709876543"), "as trunks write it")
    #expect(isFollowed("+46709876543", .ipv4(0xC633_6402)), "another trunk of the environment")
    #expect(allows(SIPURI(scheme: .tel, user: "+46709876543", host: nil)))
    // Dearer, denied, dear by the number plan, without a price, of another country.
    var refused: [(String, SIPHost)] = [
      "+46711234567", "+46901234567", "+46900123456", "+4930123456", "+12025550123", "0709876543", "alice", "",
      "+46709876543;rn=+46900123456", "+46709876543;npdi",
    ].map { ($0, trunk) }
    refused += [.ipv4(0x7F00_0001), .ipv4(0x0A00_0001), .ipv4(0x0101_0101)].map { ("alice", $0) }
    refused.append(("+46900123456", .ipv4(0x0101_0101)))
    for name in ["maddr", "rn", "CIC"] {
      var uri = SIPURI(scheme: .sip, user: "+46709876543", host: trunk)
      uri.parameters = [SIPParameter(name, "198.51.100.9")]
      #expect(!allows(uri), "\(name)")
    }
    let followed = refused.filter { isFollowed($0.0, $0.1) }
    #expect(followed.isEmpty, "\(followed)")
    #expect(isFollowed("alice", .name("pbx.example.com")))
    try ScoreboardRow(
      "X6", figure: "\(followed.count)", unit: "followed", target: "= 0", passed: followed.isEmpty,
      detail: "\(refused.count) destinations", gate: true
    ).record()
  }

  @Test("a free call is redirected to nothing that costs")
  func freeRedirection() throws {
    var configuration = try Scene.configuration(maximumRedirections: 3)
    configuration.environments[0].sipHosts.reachesAny = true
    let bench = try Bench(configuration)
    // By name at a trunk, which costs nothing here.
    #expect(bench.place("alice@198.51.100.1", kind: .sip) != nil)
    let allows = bench.invites[0].call.allowsRedirection
    #expect(!allows(SIPURI(scheme: .sip, user: "+46709876543", host: .ipv4(0xC633_6401))))
    #expect(allows(SIPURI(scheme: .sip, user: "bob", host: .name("example.com"))))
  }
}
