import CallModel
import DoorKit
import LandlineHTTP
import LandlineNode
import Logging
import Testing

/// How often a host may ask, to the last request; and who the host is.
@Suite("Requests of a host") struct RequestLimitTests {
  private static let host = SIPHost.ipv4(0xC000_0201)
  private let start = MonotonicInstant(milliseconds: 1_000_000)

  private func after(_ milliseconds: Int64) -> MonotonicInstant { start.advanced(byMilliseconds: milliseconds) }

  @Test("as many at once as may be, then one for each interval, and the log is told once") func edge() {
    let requests = HostRequests(perSecond: 50, burst: 100)
    for _ in 0..<100 { #expect(requests.count(Self.host, at: start) == .within) }
    #expect(requests.count(Self.host, at: start) == .over(seconds: 1, isFirst: true))
    #expect(requests.count(Self.host, at: after(19)) == .over(seconds: 1, isFirst: false))
    #expect(requests.count(Self.host, at: after(20)) == .within)
    #expect(requests.count(Self.host, at: after(20)) == .over(seconds: 1, isFirst: false))
    // Others are not concerned.
    #expect(requests.count(.ipv4(1), at: after(20)) == .within)
    // 100 requests take 2 s to be given back; then it is news again.
    for _ in 0..<100 { #expect(requests.count(Self.host, at: after(2020)) == .within) }
    #expect(requests.count(Self.host, at: after(2020)) == .over(seconds: 1, isFirst: true))
  }

  @Test("a refused proof counts tenfold, and what is owed is waited for") func proofs() {
    let requests = HostRequests(perSecond: 50, burst: 100)
    for _ in 0..<10 {
      #expect(requests.count(Self.host, at: start) == .within)
      requests.countRefusedProof(Self.host, at: start)
    }
    #expect(requests.count(Self.host, at: start) == .over(seconds: 1, isFirst: true))
    // One more at once, of which nine are owed: 5 a second from then on, not 50.
    #expect(requests.count(Self.host, at: after(20)) == .within)
    requests.countRefusedProof(Self.host, at: after(20))
    #expect(requests.count(Self.host, at: after(219)) == .over(seconds: 1, isFirst: false))
    #expect(requests.count(Self.host, at: after(220)) == .within)
    // However many are refused at once, two bursts are the most that is waited for.
    for _ in 0..<1000 { requests.countRefusedProof(Self.host, at: after(220)) }
    #expect(requests.count(Self.host, at: after(220 + 2019)) == .over(seconds: 1, isFirst: false))
    #expect(requests.count(Self.host, at: after(220 + 2020)) == .within)
  }

  @Test("proofs over HTTP and WebSocket are told apart and count together; the log is told once") func told() {
    let (metrics, lines, now) = (MetricsRegistry(), LogLines(), start)
    let limit = RequestLimit(
      requests: HostRequests(perSecond: 1, burst: 31), proxies: NamedProxies([]), metrics: metrics,
      logger: Logger(label: "test") { _ in LineHandler(lines: lines) }, now: { now })
    for kind in [.httpRefusedProofs, .appRefusedProofs, .httpRefusedProofs, .appRefusedProofs] as [LandlineMetric] {
      #expect(limit.refusal(Self.host)?.code.status == nil)
      limit.countRefusedProof(Self.host, kind)
    }
    #expect(lines.all.isEmpty)
    for _ in 0..<3 { #expect(limit.refusal(Self.host)?.code.status == 429) }
    let text = metrics.text()
    #expect(text.contains("landline_http_refused_proofs_total 2\n"))
    #expect(text.contains("landline_app_refused_proofs_total 2\n"))
    #expect(text.contains("landline_http_throttled_hosts_total 1\n"))
    #expect(lines.all.split(separator: "\n").count == 1 && lines.all.contains("asks more often than it may"))
  }

  @Test("an IPv6 host is its /64, an IPv4 address the same in both forms, and the table has an end") func hosts() {
    let requests = HostRequests(perSecond: 1, burst: 1)
    #expect(requests.count(.ipv6(high: 7, low: 1), at: start) == .within)
    #expect(requests.count(.ipv6(high: 7, low: .max), at: start) == .over(seconds: 1, isFirst: true))
    #expect(requests.count(.ipv6(high: 8, low: 1), at: start) == .within)
    #expect(requests.count(.ipv4(9), at: start) == .within)
    #expect(requests.count(.ipv6(high: 0, low: 0xFFFF_0000_0009), at: start) == .over(seconds: 1, isFirst: true))
    for number in 0..<UInt32(2 * HostRequests.maximumHosts) {
      _ = requests.count(.ipv4(0x0A00_0000 + number), at: start)
    }
    #expect(requests.hostCount <= HostRequests.maximumHosts + 1)
    #expect(requests.count(.ipv4(1), at: start) == .over(seconds: 1, isFirst: false), "those beyond share one place")
    #expect(requests.count(.ipv4(1), at: after(2000)) == .within)
  }

  @Test(
    "X-Forwarded-For counts from named proxies only, from the right",
    arguments: [
      ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"), ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
      ("10.0.0.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),
      ("10.0.0.1", ["203.0.113.9", "10.0.0.2"], "203.0.113.9"),
      ("10.0.0.1", ["203.0.113.9, 10.0.0.2 , 10.0.0.1"], "203.0.113.9"),
      ("10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"), ("10.0.0.1", ["[2001:db8::9]:4711"], "2001:db8::9"),
      ("10.0.0.1", ["2001:db8::9"], "2001:db8::9"), ("10.0.0.1", [], "10.0.0.1"), ("10.0.0.1", [""], "10.0.0.1"),
      ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"), ("10.0.0.1", ["example.com"], "10.0.0.1"),
      ("10.0.0.1", ["10.0.0.2"], "10.0.0.1"), ("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
    ] as [(String, [String], String)])
  func forwarded(_ peer: String, _ fields: [String], _ client: String) throws {
    let proxies = NamedProxies([.ipv4(0x0A00_0001), .ipv4(0x0A00_0002)])
    let found = proxies.client(of: try SIPHost(unbracketed: peer), forwarded: fields)
    #expect(found == (try SIPHost(unbracketed: client)))
    #expect(NamedProxies([]).client(of: found, forwarded: ["203.0.113.1"]) == found)
  }

  @Test("the door refuses what is too much with 429 and the time to wait, over all connections of the host")
  func door() async throws {
    try await RunningDoor.with(RecordingAcceptor()) {
      $0.limits.requestsPerSecond = 1
      $0.limits.requestBurst = 31
      $0.proxies = [.ipv4(0x7F00_0001)]
    } _: { port, _ in
      /// Asks on a new connection.
      func status(_ fields: String) async throws -> (Int, String) {
        let peer = try await RawPeer.connect(port)
        try await peer.write("GET /v1/me HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        let answer = try #require(await peer.response())
        return (answer.status, answer.head.lowercased())
      }
      let wrong = "Authorization: Bearer wrong\r\n"
      for _ in 0..<4 { #expect(try await status(wrong + "X-Forwarded-For: 203.0.113.9\r\n").0 == 401) }
      // Forty were counted: nine are owed, a second each. Where this test is late, some more.
      var refused = try await status(wrong + "X-Forwarded-For: 203.0.113.9\r\n")
      while refused.0 == 401 { refused = try await status(wrong + "X-Forwarded-For: 203.0.113.9\r\n") }
      #expect(refused.0 == 429 && refused.1.contains("retry-after: "), "\(refused)")
      /// The status of something that is asked while the host is over its limit, however late this test is.
      func statusWhileOver(_ ask: () async throws -> Int?) async throws -> Int? {
        var found: Int?
        for _ in 0..<20 where found != 429 {
          while try await status(wrong + "X-Forwarded-For: 203.0.113.9\r\n").0 != 429 {}
          found = try await ask()
        }
        return found
      }
      // A right one of the same host waits too; other clients of the proxy do not, and no WebSocket is a way around.
      let right = try await statusWhileOver {
        try await status("Authorization: Bearer operator\r\nX-Forwarded-For: 203.0.113.9\r\n").0
      }
      #expect(right == 429)
      let other = try await status("Authorization: Bearer operator\r\nX-Forwarded-For: 203.0.113.8\r\n").0
      #expect(other != 429 && other != 401, "\(other)")
      let upgraded = try await statusWhileOver {
        let upgrade = try await RawPeer.connect(port)
        try await upgrade.write(RawPeer.upgrade(extra: ["X-Forwarded-For: 203.0.113.9"]))
        return await upgrade.response()?.status
      }
      #expect(upgraded == 429)
    }
  }
}
