import CallModel
import LandlineResolver
import SIPCore
import Synchronization
import Testing

@Suite("Resolver against a name server on this machine", .timeLimit(.minutes(5)))
struct ResolverTests {
  static func configuration(_ servers: NameServer...) -> ResolverConfiguration {
    var configuration = ResolverConfiguration()
    configuration.servers = servers.map { ResolverConfiguration.Server(.ipv4(0x7F00_0001), port: $0.port) }
    configuration.usesHostsFile = false
    return configuration
  }

  static func uri(_ host: String, port: UInt16? = nil, scheme: SIPURI.Scheme = .sip) -> SIPURI {
    SIPURI(scheme: scheme, user: "x", host: .name(host), port: port)
  }

  static let policy = LocationPolicy(transports: [.udp, .tcp, .tls], families: [.ipv4])

  static func locate(_ resolver: Resolver, _ uri: SIPURI, policy: LocationPolicy = policy) async -> [String] {
    let result = await withCheckedContinuation { continuation in
      resolver.locate(uri, policy: policy) { continuation.resume(returning: $0) }
    }
    return written(result)
  }

  static func written(_ result: LocationResult) -> [String] {
    switch result {
    case .failed(let failure): ["\(failure.kind)"]
    case .found(let targets):
      targets.map {
        "\($0.address.transport) \($0.address.host):\($0.address.port)" + ($0.serverName.map { " as \($0)" } ?? "")
      }
    }
  }

  @Test("An observer is told each question and its answer before the result")
  func observed() async throws {
    let server = try NameServer()
    server.set(.srv, "_sip._udp.example.com", .records([.srv(1, 0, 5070, "a.example.com")]))
    server.set(.a, "a.example.com", .records([.a(192, 0, 2, 1)]))
    let resolver = try Resolver(Self.configuration(server))
    for round in 1...2 {
      let told = Mutex<[String]>([])
      let seen = await withCheckedContinuation { continuation in
        resolver.locate(
          Self.uri("example.com"), policy: LocationPolicy(transports: [.udp], families: [.ipv4]),
          observer: { question, answer in
            told.withLock { $0.append(answer == .notFound ? "\(question): none" : "\(question)") }
          },
          then: { _ in continuation.resume(returning: told.withLock { $0 }) })
      }
      // The second time the cache answers.
      #expect(
        seen == ["NAPTR example.com: none", "SRV _sip._udp.example.com", "A a.example.com"], "round \(round)")
    }
    resolver.shutDown()
    server.close()
  }

  @Test("Where servers fall silent, an old answer is used before they are given up, and at once after that")
  func goesOnWithOldAnswers() async throws {
    let server = try NameServer()
    server.set(.a, "h.example.com", .records([.a(192, 0, 2, 1, seconds: 1)]))
    var configuration = Self.configuration(server)
    configuration.minimumSeconds = 1
    configuration.timeoutMilliseconds = 60_000
    configuration.tries = 1
    configuration.staleAfterMilliseconds = 1_000
    let resolver = try Resolver(configuration)
    let uri = Self.uri("h.example.com", port: 5060)
    #expect(await Self.locate(resolver, uri) == ["udp 192.0.2.1:5060"])
    server.set(.a, "h.example.com", .records([.a(192, 0, 2, 2)]))
    server.hold()
    server.forget()
    while server.asked.isEmpty { #expect(await Self.locate(resolver, uri) == ["udp 192.0.2.1:5060"]) }
    // Asked once, and not waited for any more: each wait would last as long as an answer grows stale. A machine with other
    // work may hold up some of the lookups itself.
    var quick = 0
    for _ in 0..<20 {
      let start = ContinuousClock.now
      #expect(await Self.locate(resolver, uri) == ["udp 192.0.2.1:5060"])
      if ContinuousClock.now - start < .milliseconds(configuration.staleAfterMilliseconds) { quick += 1 }
    }
    #expect(quick >= 10)
    #expect(server.asked == ["A h.example.com"])
    server.letGo()
    while await Self.locate(resolver, uri) != ["udp 192.0.2.2:5060"] {}
    resolver.shutDown()
    server.close()
  }

  @Test("From NAPTR over SRV to both families")
  func wholeWay() async throws {
    let server = try NameServer()
    server.set(
      .naptr, "example.com",
      .records([
        .naptr(20, 1, "s", "SIP+D2U", "_sip._udp.example.com"), .naptr(10, 2, "s", "SIP+D2T", "_sip._tcp.example.com"),
        .naptr(10, 1, "S", "sips+d2t", "_sips._tcp.example.com"),
      ]))
    server.set(
      .srv, "_sips._tcp.example.com", .records([.srv(2, 0, 5061, "b.example.com"), .srv(1, 0, 443, "A.Example.com")]))
    server.set(.srv, "_sip._tcp.example.com", .records([.srv(1, 0, 5060, "a.example.com")]))
    server.set(.a, "a.example.com", .records([.a(192, 0, 2, 1), .a(192, 0, 2, 2)]))
    server.set(
      .aaaa, "a.example.com", .records([.aaaa([0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1])]))
    // b is another name for c.
    server.set(
      .a, "b.example.com", .records([.alias(nil, to: "c.example.com"), .a(192, 0, 2, 3, owner: "c.example.com")]))
    let resolver = try Resolver(ResolverTests.configuration(server))
    let found = await ResolverTests.locate(
      resolver, ResolverTests.uri("example.com"), policy: LocationPolicy(transports: [.udp, .tcp, .tls]))
    #expect(
      found == [
        "tls [2001:db8::1]:443 as example.com", "tls 192.0.2.1:443 as example.com", "tls 192.0.2.2:443 as example.com",
        "tls 192.0.2.3:5061 as example.com", "tcp [2001:db8::1]:5060", "tcp 192.0.2.1:5060", "tcp 192.0.2.2:5060",
      ])
    #expect(Set(server.asked).count == server.asked.count)
    // The second time nothing is asked.
    server.forget()
    _ = await ResolverTests.locate(
      resolver, ResolverTests.uri("example.com"), policy: LocationPolicy(transports: [.udp, .tcp, .tls]))
    #expect(server.asked == [])
    #expect(resolver.counts.cacheHits >= 7)
    resolver.shutDown()
    server.close()
  }

  struct Answer: CustomTestStringConvertible, Sendable {
    let name: String
    let reply: NameServer.Reply
    let expected: String
    var testDescription: String { name }
  }

  static let question: [UInt8] = NameServer.name("h.example.com") + [0, 1, 0, 1]

  @Test(
    "Answers that are no addresses",
    arguments: [
      Answer(name: "no such name", reply: .nameError(seconds: 5), expected: "noSuchHost"),
      Answer(name: "no records", reply: .records([]), expected: "noSuchHost"),
      Answer(name: "SERVFAIL", reply: .code(2), expected: "nameServersUnreachable"),
      Answer(name: "REFUSED", reply: .code(5), expected: "nameServersUnreachable"),
      Answer(
        name: "records of somebody else", reply: .records([.a(192, 0, 2, 66, owner: "evil.example")]),
        expected: "noSuchHost"),
      Answer(
        name: "aliases in a circle",
        reply: .records([.alias(nil, to: "x.example"), .alias("x.example", to: "h.example.com")]),
        expected: "noSuchHost"),
      Answer(
        name: "an address of five bytes", reply: .records([.a(192, 0, 2, 1, 9)]), expected: "nameServersUnreachable"),
      Answer(
        name: "a name that points at itself",
        reply: .raw(
          [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + question + [
            0xC0, UInt8(12 + question.count), 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4,
          ]),
        expected: "nameServersUnreachable"),
      Answer(
        name: "data longer than the message",
        reply: .raw(
          [0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0] + question + [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0xFF, 0xFF, 1, 2, 3, 4]),
        expected: "nameServersUnreachable"),
    ])
  func badAnswers(row: Answer) async throws {
    let server = try NameServer()
    server.set(.a, "h.example.com", row.reply)
    var configuration = ResolverTests.configuration(server)
    configuration.timeoutMilliseconds = 300
    let resolver = try Resolver(configuration)
    #expect(await ResolverTests.locate(resolver, ResolverTests.uri("h.example.com", port: 5060)) == [row.expected])
    resolver.shutDown()
    server.close()
  }

  @Test("An answer too long for a datagram comes over TCP")
  func longAnswer() async throws {
    let server = try NameServer()
    server.set(.srv, "_sips._tcp.example.com", .records((0..<500).map { .srv($0, 0, 5061, "h\($0).example.com") }))
    server.set(.a, "h0.example.com", .records([.a(192, 0, 2, 1)]))
    let resolver = try Resolver(ResolverTests.configuration(server))
    let found = await ResolverTests.locate(resolver, ResolverTests.uri("example.com", scheme: .sips))
    #expect(found == ["tls 192.0.2.1:5061 as example.com"])
    #expect(server.asked.count(where: { $0 == "SRV _sips._tcp.example.com" }) == 2)
    resolver.shutDown()
    server.close()
  }

  @Test("A silent server is given up in time; the next one answers in its place")
  func silence() async throws {
    let silent = try NameServer()
    silent.set(.a, "h.example.com", .silence)
    var configuration = ResolverTests.configuration(silent)
    configuration.timeoutMilliseconds = 100
    configuration.tries = 2
    // Longer than a busy machine keeps a test waiting.
    configuration.failureSeconds = 600
    let alone = try Resolver(configuration)
    #expect(
      await ResolverTests.locate(alone, ResolverTests.uri("h.example.com", port: 1)) == ["nameServersUnreachable"])
    #expect(silent.asked == ["A h.example.com", "A h.example.com"])
    // The failure is remembered for a moment.
    #expect(
      await ResolverTests.locate(alone, ResolverTests.uri("h.example.com", port: 2)) == ["nameServersUnreachable"])
    #expect(silent.asked.count == 2)
    alone.shutDown()

    let server = try NameServer()
    server.set(.a, "h.example.com", .records([.a(192, 0, 2, 1)]))
    configuration = ResolverTests.configuration(silent, server)
    configuration.timeoutMilliseconds = 100
    let pair = try Resolver(configuration)
    #expect(await ResolverTests.locate(pair, ResolverTests.uri("h.example.com", port: 1)) == ["udp 192.0.2.1:1"])
    pair.shutDown()

    configuration = ResolverTests.configuration(silent)
    configuration.timeoutMilliseconds = 60_000
    configuration.locationMilliseconds = 150
    let impatient = try Resolver(configuration)
    #expect(
      await ResolverTests.locate(impatient, ResolverTests.uri("h.example.com", port: 1)) == ["nameServersUnreachable"])
    impatient.shutDown()
    silent.close()
    server.close()
  }

  @Test("Many callers with one question ask once; the questions of all are bounded")
  func coalescing() async throws {
    let server = try NameServer()
    for number in 0..<40 { server.set(.a, "h\(number).example.com", .records([.a(192, 0, 2, UInt8(number))])) }
    var configuration = ResolverTests.configuration(server)
    configuration.questions = 3
    // What is held is given up by nobody, however busy the machine is.
    configuration.timeoutMilliseconds = 60_000
    configuration.locationMilliseconds = 600_000
    let resolver = try Resolver(configuration)
    server.hold()
    let results = Results()
    for number in 0..<40 {
      for _ in 0..<5 {
        resolver.locate(ResolverTests.uri("h\(number).example.com", port: 7), policy: ResolverTests.policy) { result in
          results.add(ResolverTests.written(result))
        }
      }
    }
    // Nothing comes before it is let go, so that all 200 wait for 40 questions, three of which are out.
    // A busy machine may let a question be repeated, which is no further question.
    while Set(server.asked).count < 3 { await Task.yield() }
    #expect(Set(server.asked).count == 3)
    #expect(results.count == 0)
    server.letGo()
    while results.count < 200 { await Task.yield() }
    #expect(Set(server.asked).count == 40)
    #expect(results.distinct == Set((0..<40).map { "udp 192.0.2.\($0):7" }))
    resolver.shutDown()
    server.close()
  }

  @Test("One location too many is refused at once; the end answers everyone")
  func limits() async throws {
    let server = try NameServer()
    server.set(.a, "h.example.com", .silence)
    var configuration = ResolverTests.configuration(server)
    configuration.locations = 2
    let resolver = try Resolver(configuration)
    let results = Results()
    for _ in 0..<3 {
      resolver.locate(ResolverTests.uri("h.example.com", port: 1), policy: ResolverTests.policy) { result in
        results.add(ResolverTests.written(result))
      }
    }
    #expect(results.all == ["tooManyQuestions"])
    resolver.shutDown()
    #expect(results.all == ["tooManyQuestions", "shutDown", "shutDown"])
    resolver.shutDown()
    resolver.locate(ResolverTests.uri("h.example.com", port: 1), policy: ResolverTests.policy) { result in
      results.add(ResolverTests.written(result))
    }
    #expect(results.all.suffix(1) == ["shutDown"])
    server.close()
  }

  @Test("An answer may end the resolver from its own thread")
  func endFromInside() async throws {
    let server = try NameServer()
    server.set(.a, "h.example.com", .records([.a(192, 0, 2, 1)]))
    let resolver = try Resolver(ResolverTests.configuration(server))
    let found = await withCheckedContinuation { continuation in
      resolver.locate(ResolverTests.uri("h.example.com", port: 1), policy: ResolverTests.policy) { result in
        resolver.shutDown()
        continuation.resume(returning: ResolverTests.written(result))
      }
    }
    #expect(found == ["udp 192.0.2.1:1"])
    resolver.shutDown()
    server.close()
  }

  @Test("The hosts file is asked first, where it may be")
  func hostsFile() async throws {
    let server = try NameServer()
    var configuration = ResolverTests.configuration(server)
    configuration.usesHostsFile = true
    let resolver = try Resolver(configuration)
    #expect(await ResolverTests.locate(resolver, ResolverTests.uri("localhost", port: 5060)) == ["udp 127.0.0.1:5060"])
    #expect(server.asked == [])
    resolver.shutDown()
    server.close()
  }

  @Test("Servers must be numeric")
  func badServers() {
    var configuration = ResolverConfiguration()
    configuration.servers = [ResolverConfiguration.Server(.name("dns.example.com"))]
    #expect(throws: ResolverError.self) { try Resolver(configuration) }
    #expect(Resolver.libraryVersion.hasPrefix("1."))
  }
}

/// What came back, in order.
private final class Results: Sendable {
  private let state = Mutex<[[String]]>([])

  func add(_ result: [String]) { state.withLock { $0.append(result) } }
  var count: Int { state.withLock { $0.count } }
  var all: [String] { state.withLock { $0.flatMap { $0 } } }
  var distinct: Set<String> { Set(all) }
}
