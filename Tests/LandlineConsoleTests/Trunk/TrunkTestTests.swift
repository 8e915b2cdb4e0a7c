import Foundation
import Glibc
import PeerKit
import Testing

/// One run of `landline trunk test` and its lines.
private struct Run {
  let result: LandlineProcess.Result
  var lines: [String] { result.output.split(separator: "\n").map(String.init) }

  init(_ arguments: [String], files: [String: String] = [:]) async throws {
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    for (name, content) in files {
      try Data(content.utf8).write(to: process.folder.appendingPathComponent(name))
    }
    // Certificates are made as the tests run, so the real day counts.
    result = try await process.run(
      ["trunk", "test"] + arguments, environment: ["LANDLINE_NOW": Date().formatted(.iso8601)])
  }

  /// Whether a line starts with these words, whatever the blanks between them, and holds a text.
  func has(_ verdict: String, _ step: String, _ text: String = "") -> Bool {
    lines.contains { line in
      let words = line.split(separator: " ", omittingEmptySubsequences: true)
      return words.count > 1 && words[0] == verdict && words[1] == step && (text.isEmpty || line.contains(text))
    }
  }

  func count(_ step: String) -> Int {
    lines.count { $0.dropFirst(6).hasPrefix(step) && !$0.hasPrefix(" ") }
  }

  var text: String { result.output + result.diagnostics }
}

@Suite("Trunk test: what does not answer")
struct SilentTrunkTests {
  @Test("a closed UDP port is told from a silent one, without the wait")
  func closedDatagrams() async throws {
    let port = try FreePort.next()
    let run = try await Run(["sip:127.0.0.1:\(port)", "--timeout", "20s"])
    #expect(run.has("fail", "reachability", "the port is closed"), "\(run.text)")
    #expect(run.has("skip", "dns", "127.0.0.1 is an address"))
    #expect(run.result.status == 4)
  }

  @Test("a silent UDP port takes the timeout")
  func silentDatagrams() async throws {
    let (descriptor, port) = try FreePort.bound(isDatagram: true)
    defer { close(descriptor) }
    let run = try await Run([
      "sip:127.0.0.1:\(port)", "--timeout", "300ms", "--number", "+46701234567", "--from", "+46812345678",
    ])
    #expect(run.has("warn", "reachability", "no answer to OPTIONS in 300ms; the call is tried"), "\(run.text)")
    #expect(run.has("fail", "call", "no answer to INVITE in 300ms"), "\(run.text)")
    #expect(run.has("skip", "transport", "no answer over other transports either"), "\(run.text)")
    #expect(run.has("fail", "summary", "failed: call"), "\(run.text)")
    let alone = try await Run(["sip:127.0.0.1:\(port)", "--timeout", "300ms"])
    #expect(alone.has("fail", "reachability", "no answer to OPTIONS in 300ms"), "\(alone.text)")
    #expect(run.text.contains("fix: "))
    #expect(run.result.status == 4)
  }

  @Test("the waits for several silent targets run side by side")
  func sideBySide() async throws {
    var open: [Int32] = []
    defer { for descriptor in open { close(descriptor) } }
    var ports: [UInt16] = []
    for _ in 0..<4 {
      let (descriptor, port) = try FreePort.bound(isDatagram: true)
      open.append(descriptor)
      ports.append(port)
    }
    let server = try TinyNameServer([
      "SRV _sip._udp.carrier.test": ports.enumerated().map { .srv(UInt16($0.offset), 0, $0.element, "a.carrier.test") },
      "A a.carrier.test": [.a(127, 0, 0, 1)],
    ])
    defer { server.close() }
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    // The shell measures beside the process: this one may be busy with other tests as it ends.
    let timed = try await LandlineProcess.run(
      URL(fileURLWithPath: "/bin/bash"),
      [
        "-c", "TIMEFORMAT=%R; time \"$0\" \"$@\"", LandlineProcess.executable.path, "trunk", "test",
        "sip:carrier.test", "--name-server", "127.0.0.1:\(server.port)", "--timeout", "3s",
      ], in: process.folder)
    let silent = timed.output.split(separator: "\n").filter { $0.contains("no answer to OPTIONS in 3s") }
    #expect(silent.count == 4, "\(timed)")
    let seconds = try #require(timed.diagnostics.split(separator: "\n").last.flatMap { Double($0) }, "\(timed)")
    #expect(seconds < 5.5, "two at a time take 6 s, one after the other 12 s: \(seconds)")
  }

  @Test("a closed TCP port", arguments: ["tcp", "tls"])
  func closedStream(_ transport: String) async throws {
    let port = try FreePort.next()
    let run = try await Run(["sip:127.0.0.1:\(port);transport=\(transport)"])
    #expect(run.has("fail", "reachability", "nobody listens there"), "\(run.text)")
    #expect(run.result.status == 4)
  }

  @Test(
    "a TCP port that speaks HTTP",
    arguments: [("tcp", "options", "speaks no SIP"), ("tls", "tls", "does not speak TLS")])
  func otherProtocol(_ transport: String, _ step: String, _ text: String) async throws {
    let (descriptor, port) = try FreePort.bound(isDatagram: false)
    listen(descriptor, 4)
    let thread = Thread {
      let stream = accept(descriptor, nil, nil)
      _ = fcntl(stream, F_SETFD, FD_CLOEXEC)
      var buffer = [UInt8](repeating: 0, count: 4096)
      _ = read(stream, &buffer, buffer.count)
      let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      _ = write(stream, answer, answer.utf8.count)
      _ = read(stream, &buffer, buffer.count)
      close(stream)
    }
    thread.start()
    defer { close(descriptor) }
    let run = try await Run(["sip:127.0.0.1:\(port);transport=\(transport)", "--timeout", "3s"])
    #expect(run.has("ok", "reachability", "connected"), "\(run.text)")
    #expect(run.has("fail", step, text), "\(run.text)")
    #expect(run.result.status == 4)
  }
}

@Suite("Trunk test: DNS")
struct TrunkDNSTests {
  @Test("records and the order that comes of them")
  func records() async throws {
    let port = try FreePort.next()
    let server = try TinyNameServer([
      "SRV _sip._udp.carrier.test": [.srv(10, 0, port, "a.carrier.test"), .srv(20, 0, port, "b.carrier.test")],
      "A a.carrier.test": [.a(127, 0, 0, 1)], "A b.carrier.test": [.a(127, 0, 0, 2)],
    ])
    defer { server.close() }
    let run = try await Run(["sip:carrier.test", "--name-server", "127.0.0.1:\(server.port)", "--timeout", "2s"])
    #expect(
      run.has("ok", "dns", "2 targets in this order: udp 127.0.0.1:\(port), udp 127.0.0.2:\(port)"), "\(run.text)")
    #expect(run.text.contains("SRV _sip._udp.carrier.test: 10 0 \(port) a.carrier.test"))
    #expect(run.text.contains("A a.carrier.test: 127.0.0.1"))
    #expect(run.count("reachability") == 2)
  }

  @Test("no such host says what to check")
  func missing() async throws {
    let server = try TinyNameServer([:])
    defer { server.close() }
    let run = try await Run(["sip:nowhere.test", "--name-server", "127.0.0.1:\(server.port)"])
    #expect(run.has("fail", "dns", "no address for nowhere.test"), "\(run.text)")
    #expect(run.text.contains("fix: check the spelling of the host"))
    #expect(run.result.status == 4)
  }

  @Test("a dead name server ends the wait")
  func deadServer() async throws {
    let (descriptor, port) = try FreePort.bound(isDatagram: true)
    defer { close(descriptor) }
    let run = try await Run(["sip:carrier.test", "--name-server", "127.0.0.1:\(port)", "--timeout", "400ms"])
    #expect(run.has("fail", "dns", "the name servers do not answer"), "\(run.text)")
    #expect(run.result.status == 4)
  }
}

@Suite("Trunk test: beside SIPp", .serialized, .enabled(if: PeerProgram.sipp.isInstalled, "sipp is not installed"))
struct TrunkPeerTests {
  private static let call = ["--number", "+46 70 123 45 67", "--from", "+46812345678", "--ring-for", "1s"]

  @Test("OPTIONS over each transport", arguments: ["udp", "tcp"])
  func options(_ transport: String) async throws {
    let peer = try await TrunkScenario.ringing.serve(transport == "udp" ? .udp : .tcp)
    let run = try await Run(["sip:127.0.0.1:\(peer.port);transport=\(transport)"])
    #expect(run.has("ok", "options", "200 OK in"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "reachability"))
    #expect(run.text.contains("server Test Peer"))
    #expect(run.text.contains("allows INVITE, ACK, CANCEL, BYE, OPTIONS"))
    #expect(run.result.status == 0)
  }

  @Test("alive, though OPTIONS is refused")
  func refusesOptions() async throws {
    let peer = try await TrunkScenario.refusingOptions.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"])
    #expect(run.has("ok", "options", "alive: it does not like OPTIONS (405"), "\(run.text)\(peer.complaint)")
    #expect(run.result.status == 0)
    let busy = try await TrunkScenario.overloaded.serve()
    let other = try await Run(["sip:127.0.0.1:\(busy.port)"])
    #expect(other.has("warn", "options", "takes no calls now, again after 60 s (503"), "\(other.text)\(busy.complaint)")
    #expect(other.result.status == 0)
  }

  @Test("a trunk that answers calls alone is tried with one")
  func callsOnly() async throws {
    let peer = try await TrunkScenario.callsOnly.serve(echoes: true)
    let run = try await Run(["sip:127.0.0.1:\(peer.port)", "--timeout", "1s"] + Self.call)
    #expect(run.has("warn", "reachability", "no answer to OPTIONS in 1s"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "call", "answered after"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "sound", "packets in 2s"), "\(run.text)")
    #expect(run.text.contains("ping: 0s"), "\(run.text)")
    #expect(run.result.status == 0)
  }

  @Test("another transport that answers is named")
  func otherTransport() async throws {
    let peer = try await TrunkScenario.ringing.serve(.tcp)
    let run = try await Run(["sip:127.0.0.1:\(peer.port);transport=udp"])
    #expect(run.has("fail", "reachability", "the port is closed"), "\(run.text)")
    #expect(run.has("warn", "transport", "OPTIONS is answered over tcp (200)"), "\(run.text)\(peer.complaint)")
    #expect(run.text.contains("fix: name the transport in the trunk's URI: sip:127.0.0.1:\(peer.port);transport=tcp"))
    #expect(run.text.contains("uri: \"sip:127.0.0.1:\(peer.port);transport=tcp\""), "\(run.text)")
  }

  @Test("the lines at the end are a configuration")
  func configuration() async throws {
    let peer = try await TrunkScenario.speaking.serve(echoes: true)
    let run = try await Run(["sip:127.0.0.1:\(peer.port)", "--json"] + Self.call + Self.account, files: Self.files)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(run.result.output.utf8)) as? [String: Any], "\(run.text)")
    let facts = (object["steps"] as? [[String: Any]])?.last?["facts"] as? [String: Any]
    let yaml = try #require(facts?["configuration"] as? String, "\(run.text)")
    let process = try await LandlineProcess(hasLedger: false)
    defer { process.remove() }
    try Data(yaml.utf8).write(to: process.folder.appendingPathComponent("landline.yaml"))
    try FileManager.default.createDirectory(
      at: process.folder.appendingPathComponent("secrets"), withIntermediateDirectories: true)
    try Data("secret-word\n".utf8).write(to: process.folder.appendingPathComponent("secrets/carrier-a"))
    let read = try await process.run(["trunk", "list", "--config", "landline.yaml", "--csv"])
    #expect(read.status == 0, "\(read.diagnostics)\(yaml)")
    // The codec that was chosen stands first.
    #expect(read.output.contains("carrier-a,sip:127.0.0.1:\(peer.port),1001,false,pcmu pcma"), "\(read.output)\(yaml)")
  }

  @Test("a call is cancelled as it rings")
  func rings() async throws {
    let peer = try await TrunkScenario.ringing.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call.dropLast() + ["0s"])
    #expect(run.has("ok", "offer", "pcma, pcmu, g722, opus, 20 ms, touch tones"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "call", "rings after"))
    #expect(run.text.contains("taken back at once"))
    #expect(run.has("skip", "answer"))
    #expect(run.text.contains("From <sip:+46812345678@127.0.0.1>, P-Asserted-Identity <sip:+46812345678@127.0.0.1>"))
    #expect(run.result.diagnostics.contains("a real call attempt goes to: +46701234567"))
    #expect(run.count("call") == 1)
    #expect(run.result.status == 0)
  }

  @Test("early media tells what was chosen")
  func early() async throws {
    let peer = try await TrunkScenario.earlyMedia.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call)
    #expect(run.has("ok", "call", "rings after"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "answer", "pcmu, 30 ms, touch tones as 101, no SRTP, sendrecv"))
    #expect(run.text.contains("media at 127.0.0.1:40000"))
    #expect(run.has("warn", "sound", "no sound came in 2s"), "\(run.text)")
    #expect(run.result.status == 0)
  }

  @Test("an answered call is hung up")
  func answers() async throws {
    let peer = try await TrunkScenario.speaking.serve(echoes: true)
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call)
    #expect(run.has("ok", "call", "answered after"), "\(run.text)\(peer.complaint)")
    #expect(run.text.contains("an answered call may be billed"))
    #expect(run.has("ok", "answer", "pcmu, 30 ms"))
    #expect(run.has("ok", "sound", "packets in 2s, the first after"), "\(run.text)")
    #expect(run.has("ok", "summary", "calls go through; sound as pcmu"), "\(run.text)")
    #expect(run.result.status == 0)
    let silent = try await TrunkScenario.answering.serve()
    let other = try await Run(["sip:127.0.0.1:\(silent.port)"] + Self.call)
    #expect(other.has("fail", "sound", "no sound came in 2s"), "\(other.text)\(silent.complaint)")
    #expect(other.result.status == 4)
  }

  @Test("busy: the person's word, not the trunk's")
  func busy() async throws {
    let peer = try await TrunkScenario.busy.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call)
    #expect(run.has("warn", "call", "486 Busy Here after"), "\(run.text)\(peer.complaint)")
    #expect(run.text.contains("sip.busy"))
    #expect(run.text.contains("Q.850 cause 17 User busy"))
    #expect(run.result.status == 0)
  }

  @Test("no codec in common, in the words of landline explain")
  func codec() async throws {
    let peer = try await TrunkScenario.noCodec.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call)
    #expect(run.has("fail", "call", "488 Not Acceptable Here"), "\(run.text)\(peer.complaint)")
    #expect(run.text.contains("sip.media, media not agreed: The two sides found no common codec or media transport."))
    #expect(run.text.contains("Incompatible media format"))
    #expect(
      run.text.contains(
        "allow another codec on the trunk; set the trunk's encryption to what it offers; landline explain 488"))
    #expect(run.result.status == 4)
  }

  private static let account = ["--user", "1001", "--password-file", "password"]
  private static let files = ["password": "secret-word\n"]

  @Test("403: the variant that works is named")
  func variants() async throws {
    let peer = try await TrunkScenario.wantsAccount.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call + Self.account, files: Self.files)
    #expect(run.has("fail", "call", "403 Forbidden"), "\(run.text)\(peer.complaint)")
    #expect(run.has("ok", "identity", "the call goes through with from-user: account, identity: asserted"))
    #expect(run.has("ok", "call", "rings after"))
    #expect(run.result.status == 4)
  }

  @Test("403 whoever calls: a bounded number of tries")
  func forbidden() async throws {
    let peer = try await TrunkScenario.forbidding.serve()
    let run = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.call, files: Self.files)
    #expect(run.has("fail", "identity", "403 whoever calls"), "\(run.text)\(peer.complaint)")
    #expect((2...5).contains(run.lines.count { $0.contains("403 with ") }))
    #expect(run.result.status == 4)
  }

  @Test("a challenge: accepted, refused, and nobody to answer it")
  func challenge() async throws {
    let peer = try await TrunkScenario.challenging.serve()
    let good = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.account, files: Self.files)
    #expect(
      good.has("ok", "authentication", "the credentials are accepted: realm \"carrier.example\", MD5"),
      "\(good.text)\(peer.complaint)")
    #expect(good.result.status == 0)
    let bad = try await Run(["sip:127.0.0.1:\(peer.port)"] + Self.account, files: ["password": "wrong"])
    #expect(bad.has("fail", "authentication", "the credentials are refused"), "\(bad.text)")
    #expect(bad.result.status == 4)
    let none = try await Run(["sip:127.0.0.1:\(peer.port)"])
    #expect(none.has("warn", "authentication", "there are no credentials"), "\(none.text)\(peer.complaint)")
    for run in [good, bad, none] { #expect(!run.text.contains("secret-word")) }
  }

  @Test("registering, and taking it back")
  func register() async throws {
    let peer = try await TrunkScenario.ringing.serve()
    let good = try await Run(["sip:127.0.0.1:\(peer.port)", "--register"] + Self.account, files: Self.files)
    #expect(good.has("ok", "register", "registered for 600 s"), "\(good.text)\(peer.complaint)")
    #expect(good.text.contains("and taken back"))
    #expect(good.has("ok", "authentication", "accepted"))
    let bad = try await Run(["sip:127.0.0.1:\(peer.port)", "--register"] + Self.account, files: ["password": "wrong"])
    #expect(bad.has("fail", "register"), "\(bad.text)\(peer.complaint)")
    #expect(bad.result.status == 4)
  }

  @Test("one JSON object has every step and no password")
  func json() async throws {
    let peer = try await TrunkScenario.earlyMedia.serve()
    let run = try await Run(
      ["sip:127.0.0.1:\(peer.port)", "--json"] + Self.call + Self.account, files: Self.files)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(run.result.output.utf8)) as? [String: Any],
      "\(run.text)\(peer.complaint)")
    let steps = try #require(object["steps"] as? [[String: Any]])
    #expect(
      steps.compactMap { $0["step"] as? String } == [
        "configuration", "dns", "reachability", "options", "authentication", "offer", "call", "answer", "sound",
        "summary",
      ])
    #expect(object["verdict"] as? String == "warn")
    #expect((steps[7]["facts"] as? [String: Any])?["codec"] as? String == "pcmu")
    #expect(!run.text.contains("secret-word"))
  }
}

@Suite(
  "Trunk test: TLS beside Kamailio", .serialized,
  .enabled(
    if: KamailioPeer.speaksTLS && PeerProgram.openssl.isInstalled, "kamailio with TLS or openssl is not installed"))
struct TrunkTLSTests {
  private func run(
    days: ClosedRange<Int>, names: String = "IP:127.0.0.1",
    _ arguments: (CertificateAuthority, URL) async throws -> [String]
  ) async throws -> Run {
    let authority = try await CertificateAuthority("Test Authority")
    var options = KamailioPeer.Options()
    let issued = try await authority.issue("peer", names: names, days: days)
    options.certificate = issued
    let peer = try await KamailioPeer(options)
    let extra = try await arguments(authority, issued.certificate)
    let run = try await Run(["sip:127.0.0.1:\(peer.tlsPort);transport=tls"] + extra)
    withExtendedLifetime((peer, authority)) {}
    return run
  }

  @Test("a good chain: version, names, issuer, days")
  func good() async throws {
    let run = try await run(days: -1...90) { authority, _ in ["--ca", authority.certificate.path] }
    #expect(
      run.has("ok", "tls", "the certificate is good for 89 days more") || run.has("ok", "tls", "for 90 days more"),
      "\(run.text)")
    #expect(run.text.contains("TLS 1.3 in") || run.text.contains("TLS 1.2 in"))
    #expect(run.text.contains("subject peer, issued by Test Authority"))
    #expect(run.text.contains("it names 127.0.0.1"))
    #expect(run.has("ok", "options", "200 OK"))
    #expect(run.result.status == 0)
  }

  @Test("a certificate that ends soon is a warning")
  func soon() async throws {
    let run = try await run(days: -1...5) { authority, _ in ["--ca", authority.certificate.path] }
    #expect(run.has("warn", "tls", "days more"), "\(run.text)")
    #expect(run.result.status == 0)
  }

  @Test("an unknown authority, an end in the past, another name")
  func bad() async throws {
    let unknown = try await run(days: -1...90) { _, _ in [] }
    #expect(unknown.has("fail", "tls", "does not lead to a trusted authority"), "\(unknown.text)")
    #expect(unknown.text.contains("--ca FILE"))
    #expect(unknown.text.contains("issued by Test Authority"))
    #expect(unknown.result.status == 4)
    let ended = try await run(days: -20 ... -1) { authority, _ in ["--ca", authority.certificate.path] }
    #expect(ended.has("fail", "tls", "the peer's certificate expired"), "\(ended.text)")
    let both = try await run(days: -20 ... -1, names: "DNS:sip.example.com") { authority, _ in
      ["--ca", authority.certificate.path]
    }
    #expect(both.has("fail", "tls", "the peer's certificate expired"), "\(both.text)")
    #expect(both.has("fail", "tls", "the certificate names sip.example.com, not 127.0.0.1"), "\(both.text)")
    #expect(both.text.contains("the trunk must renew its certificate; use the name of the certificate"), "\(both.text)")
    let named = try await run(days: -1...90, names: "DNS:sip.example.com") { authority, _ in
      ["--ca", authority.certificate.path]
    }
    #expect(
      named.has("fail", "tls", "the certificate names sip.example.com, not the address 127.0.0.1"), "\(named.text)")
  }

  @Test("a server that wants a client certificate says so")
  func wantsClient() async throws {
    let authority = try await CertificateAuthority("Test Authority")
    var options = KamailioPeer.Options()
    options.certificate = try await authority.issue("peer", names: "IP:127.0.0.1")
    options.clientAuthority = authority.certificate
    let peer = try await KamailioPeer(options)
    let run = try await Run(["sip:127.0.0.1:\(peer.tlsPort);transport=tls", "--ca", authority.certificate.path])
    #expect(
      run.has("fail", "tls", "client certificate") || run.has("fail", "options", "client certificate"), "\(run.text)")
    #expect(run.text.contains("'certificate' and 'key'"), "\(run.text)")
    #expect(run.result.status == 4)
    withExtendedLifetime((peer, authority)) {}
  }

  @Test("a pin counts whatever the names say")
  func pinned() async throws {
    let good = try await run(days: -1...90, names: "DNS:other.example") { _, certificate in
      ["--pin", try await CertificateAuthority.fingerprint(of: certificate)]
    }
    #expect(good.has("ok", "tls"), "\(good.text)")
    #expect(good.result.status == 0)
    let bad = try await run(days: -1...90) { _, _ in ["--pin", String(repeating: "ab", count: 32)] }
    #expect(bad.has("fail", "tls", "none of those that are pinned"), "\(bad.text)")
  }
}
