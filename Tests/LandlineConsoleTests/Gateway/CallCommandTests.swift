import Foundation
import PeerKit
import Testing

@Suite("landline call: what it says", .serialized)
struct CallCommandTests {
  @Test("a number as people write it, and a cost of zero in the currency's decimals")
  func written() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.run(["call", "+46 (0)00 000 02-02", "--for", "1s"])
    #expect(result.status == 0, "\(result.output)\(result.diagnostics)")
    #expect(result.output.contains("calling       +46000000202"))
    #expect(result.output.contains("cost     0.00 EUR"), "\(result.output)")
    let bad = try await gateway.run(["call", "+46 70x"])
    #expect(bad.status == 2)
    let local = try await gateway.run(["call", "070 123 45 67"])
    #expect(local.status == 2)
    #expect(local.diagnostics.contains("the country code is missing"), "\(local.diagnostics)")
    // Nothing was connected for what cannot be called.
    #expect(!local.output.contains("connecting"))
  }

  @Test("who is asked for what is missing, wrong or not there")
  func refusals() async throws {
    let gateway = try await GatewayProcess.dev()
    // Another address than that of the gateway that runs: nothing of it is offered there.
    let elsewhere = "ws://127.0.0.1:\(try FreePort.next())"
    let missing = try await gateway.run(
      ["call", "+46000000202", "--url", elsewhere],
      environment: ["LANDLINE_APPLICATION_KEY": ""])
    #expect(missing.status == 2, "\(missing)")
    #expect(missing.diagnostics.contains("--application-key"), "\(missing.diagnostics)")
    #expect(!missing.diagnostics.contains("--key"))
    // At its own address the key of its only application is found.
    let found = try await gateway.run(
      ["call", "+46000000202", "--for", "300ms"],
      environment: ["LANDLINE_APPLICATION_KEY": "", "LANDLINE_APPLICATION_SECRET_FILE": ""])
    #expect(found.status == 0, "\(found)")
    let secret = gateway.folder.url.appendingPathComponent("other-secret")
    try Data(Data((0..<16).map { UInt8($0) }).base64EncodedString().utf8).write(to: secret)
    let wrong = try await gateway.run(["call", "+46000000202", "--secret-file", secret.path])
    #expect(wrong.status == 4, "\(wrong.diagnostics)")
    #expect(wrong.diagnostics.contains("does not take this application key and secret"), "\(wrong.diagnostics)")
    #expect(wrong.diagnostics.contains("fix: "))
    let free = try FreePort.next()
    let closed = try await gateway.run(["call", "+46000000202", "--url", "ws://127.0.0.1:\(free)"])
    #expect(closed.status == 11)
    #expect(closed.diagnostics.contains("no gateway answers: Connection refused"), "\(closed.diagnostics)")
    #expect(!closed.diagnostics.contains("errno") && !closed.diagnostics.contains("descriptor:"))
    let room = try await gateway.run(["call", "conf:room", "--for", "300ms"])
    #expect(room.status == 0, "\(room.output)\(room.diagnostics)")
    #expect(room.output.contains("established"), "\(room.output)")
  }

  @Test("a reader who has read enough ends it without a word")
  func brokenPipe() async throws {
    let gateway = try await GatewayProcess.dev()
    for (before, command) in [
      ("", "call +46000000202 --for 2s"),
      ("(sleep 0.3; landline call +46000000202 --for 1s > /dev/null) &", "calls watch --ndjson"),
    ] {
      let result = try await gateway.shell(
        "\(before) landline \(command) 2> diagnostics | head -1 > /dev/null; exit ${PIPESTATUS[0]}")
      #expect(result.status == 141, "\(command): \(result.status)")
      let said = try String(contentsOf: gateway.folder.url.appendingPathComponent("diagnostics"), encoding: .utf8)
      #expect(!said.contains("landline: "), "\(command): \(said)")
    }
  }

  @Test("sound files of any usual kind are played; others are refused before anything is connected")
  func sounds() async throws {
    let gateway = try await GatewayProcess.dev()
    for (rate, channels) in [(48_000, 1), (44_100, 2), (22_050, 1)] {
      let file = gateway.folder.url.appendingPathComponent("tone-\(rate).wav")
      try Data(Self.wav(rate: rate, channels: channels, bits: 16)).write(to: file)
      let result = try await gateway.run([
        "call", "+46000000202", "--play", file.path, "--record", "heard-\(rate).wav", "--for", "2s",
      ])
      #expect(result.status == 0, "\(rate): \(result.output)\(result.diagnostics)")
      // The far end sends back what it hears: the tone is in the right channel.
      let heard = try Data(contentsOf: gateway.folder.url.appendingPathComponent("heard-\(rate).wav"))
      #expect(Self.loudness(Array(heard)) > 500, "\(rate): \(Self.loudness(Array(heard)))")
    }
    let odd = gateway.folder.url.appendingPathComponent("odd.wav")
    try Data(Self.wav(rate: 48_000, channels: 1, bits: 24)).write(to: odd)
    let refused = try await gateway.run(["call", "+46000000202", "--play", odd.path])
    #expect(refused.status == 2)
    #expect(refused.diagnostics.contains("24 bits a sample: 16 are wanted"), "\(refused.diagnostics)")
    #expect(!refused.output.contains("connecting"))
  }

  /// A second of a tone.
  private static func wav(rate: Int, channels: Int, bits: Int) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    var data: [UInt8] = []
    for index in 0..<rate {
      let sample = Int(12_000 * sin(2 * Double.pi * 440 * Double(index) / Double(rate)))
      for _ in 0..<channels { data += bytes(sample << (bits - 16), bits / 8) }
    }
    let block = channels * bits / 8
    return Array("RIFF".utf8) + bytes(36 + data.count, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4) + bytes(1, 2)
      + bytes(channels, 2) + bytes(rate, 4) + bytes(rate * block, 4) + bytes(block, 2) + bytes(bits, 2)
      + Array("data".utf8) + bytes(data.count, 4) + data
  }

  /// The level of the right channel of a recording.
  private static func loudness(_ bytes: [UInt8]) -> Double {
    guard bytes.count > 44 + 8 else { return 0 }
    let frames = (bytes.count - 44) / 4
    let sum = (0..<frames).reduce(0.0) { sum, frame in
      let place = 44 + 4 * frame + 2
      let sample = Double(Int16(truncatingIfNeeded: Int(bytes[place]) | Int(bytes[place + 1]) << 8))
      return sum + sample * sample
    }
    return (sum / Double(frames)).squareRoot()
  }

  @Test(
    "an authority that is named is trusted over wss; without it the reason and the option are told",
    .enabled(if: PeerProgram.openssl.isInstalled, "openssl is not installed"))
  func authority() async throws {
    let gateway = try await GatewayProcess.dev()
    let authority = try await CertificateAuthority("Private Authority")
    let issued = try await authority.issue("gateway", names: "IP:127.0.0.1,DNS:localhost")
    let port = try FreePort.next()
    let state = gateway.stateFolder
    gateway.process.interrupt()
    _ = try await gateway.process.exited(within: 20)
    // The configuration that landline dev wrote, with a certificate of the authority.
    let text = try String(contentsOf: state.appendingPathComponent("landline.yaml"), encoding: .utf8)
    let secure = text.replacing(#/  bind: 127\.0\.0\.1:\d+\n/#, maxReplacements: 1) { _ in
      "  bind: 127.0.0.1:\(port)\n  certificate: \(issued.certificate.path)\n  key: \(issued.key.path)\n"
    }
    try Data(secure.utf8).write(to: state.appendingPathComponent("secure.yaml"))
    let server = try PeerProcess(
      path: LandlineProcess.executable.path, ["serve", "--config", state.appendingPathComponent("secure.yaml").path],
      environment: ["HOME": gateway.folder.url.path, "PATH": "/usr/bin:/bin"], startedIn: state,
      in: TemporaryFolder("secure"))
    try await server.listens(on: port, within: 30)
    let call = ["call", "+46000000202", "--for", "1s", "--url", "wss://127.0.0.1:\(port)"]
    let trusted = try await gateway.run(call + ["--authority", authority.certificate.path])
    #expect(trusted.status == 0, "\(trusted.output)\(trusted.diagnostics)")
    let named = try await gateway.run(call, environment: ["LANDLINE_AUTHORITY": authority.certificate.path])
    #expect(named.status == 0, "\(named.output)\(named.diagnostics)")
    let unknown = try await gateway.run(call)
    #expect(unknown.status == 11, "\(unknown.diagnostics)")
    #expect(unknown.diagnostics.contains("leads to no authority that is trusted here"), "\(unknown.diagnostics)")
    #expect(unknown.diagnostics.contains("--authority FILE"))
    // No place of the build, and no name of the library's source.
    #expect(!unknown.diagnostics.contains(".cc") && !unknown.diagnostics.contains("OPENSSL_internal"))
    withExtendedLifetime((server, authority)) {}
  }
}

@Suite("landline calls: for people", .serialized)
struct CallsCommandTests {
  @Test("one call as a page, live and over, and all of them as they change")
  func showAndWatch() async throws {
    let gateway = try await GatewayProcess.dev()
    let watch = try await gateway.shell(
      """
      landline calls watch > watched.txt & watcher=$!
      landline call +46000000202 --for 3s --ndjson > call.txt &
      call=$!
      for n in $(seq 200); do
        id=$(landline calls list --csv 2>/dev/null | sed -n 's/^\\([^,]*\\),established.*/\\1/p')
        [ -n "$id" ] && break
        sleep 0.02
      done
      echo "$id"
      landline calls show "$id"
      landline calls show "$id" --json > live.json
      wait $call
      landline calls show "$id"
      kill $watcher
      """)
    let lines = watch.output.split(separator: "\n").map(String.init)
    let id = try #require(lines.first, "\(watch.diagnostics)")
    #expect(lines.contains { $0 == "call     \(id)" }, "\(watch.output)\(watch.diagnostics)")
    #expect(lines.contains { $0.hasPrefix("who      cli of demo") }, "\(watch.output)")
    #expect(lines.contains { $0.hasPrefix("to       +46000000202 (phone)") }, "\(watch.output)")
    #expect(lines.contains { $0 == "state    talking" }, "\(watch.output)")
    #expect(lines.contains { $0.hasPrefix("state    hung up after ") }, "\(watch.output)")
    #expect(lines.contains { $0.hasPrefix("codec    ") }, "\(watch.output)")
    #expect(lines.contains { $0.hasPrefix("money    0.00 EUR for ") }, "\(watch.output)")
    #expect(
      lines.contains { $0 == "page     \(gateway.url.replacing("ws:", with: "http:"))/calls/\(id)" }, "\(watch.output)")
    #expect(lines.contains { $0 == "explain  landline explain \(id)" })
    // A program still gets every member.
    let json = try Data(contentsOf: gateway.folder.url.appendingPathComponent("live.json"))
    let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    #expect(object["id"] as? String == id && object["state"] as? String == "established")
    // Not on a terminal: a title, then a line for each change.
    let watched = try String(contentsOf: gateway.folder.url.appendingPathComponent("watched.txt"), encoding: .utf8)
      .split(separator: "\n").map(String.init)
    #expect(watched.first?.hasPrefix("id ") == true, "\(watched)")
    #expect(watched.contains { $0.hasPrefix(id) && $0.contains("talking") }, "\(watched)")
    #expect(watched.last.map { $0.hasPrefix(id) && $0.contains("over") } == true, "\(watched)")
    #expect(!watched.contains { $0.contains("\u{1B}") })
  }

  @Test(
    "on a terminal the table is drawn again",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
  func redraws() async throws {
    let gateway = try await GatewayProcess.dev()
    let result = try await gateway.shell(
      """
      export TERM=xterm
      script -qec "stty rows 20; timeout 4 landline calls watch" /dev/null > watched.txt < /dev/null & watcher=$!
      sleep 0.5
      landline call +46000000202 --for 1s > call.txt
      wait $watcher
      cat watched.txt
      """)
    #expect(result.output.contains("no call is up"), "\(result.output)")
    #expect(result.output.contains("\u{1B}[J"), "\(result.output)")
    #expect(result.output.contains("talking"), "\(result.output)")
  }
}
