import Foundation
import PeerKit

/// The phone page in Firefox, on machines with and without a network: each is a namespace of its own, in which the gateway
/// runs as well.
enum FirefoxCases {
  /// Of the machine with a network.
  private static let address = "10.77.0.1"
  /// From the call until the page says that sound has no way.
  private static let mostTellingMilliseconds = 3_000.0

  static let cases = [
    PeerCase(
      peer: "Firefox", transport: "pages", "landline dev on a machine with a network",
      expected: "the prompt is heard by way of the machine's own address, and no other machine reaches that port",
      run: { try await heardByTheMachinesAddress() }),
    PeerCase(
      peer: "Firefox", transport: "pages", "users of landline dev call each other",
      expected: "the page rings, is answered and hears the caller; a call that is given up was missed",
      run: { try await called() }),
    PeerCase(
      peer: "Firefox", transport: "pages", "landline dev without a network",
      expected: "the page tells within 3 s that sound has no way and what to do, and blames nobody else",
      run: { try await toldWithoutNetwork() }),
    PeerCase(
      peer: "Firefox", transport: "pages", "landline dev without a network, as the page advises",
      expected: "the prompt is heard by way of loopback", run: { try await heardByLoopback() }),
    PeerCase(
      peer: "Firefox", transport: "pages, HTTPS", "landline serve with a certificate",
      expected: "an operator signs in, calls and hears the prompt", run: { try await heardOverHTTPS() }),
  ]

  /// A machine with Firefox.
  private struct Machine {
    let peer: PythonPeer
    let folder: TemporaryFolder

    init(address: String?) async throws {
      folder = try TemporaryFolder("firefox")
      peer = try await PythonPeer(
        .firefox, ["--landline", GatewayBooks.landline.path] + (address.map { ["--address", $0] } ?? []))
    }

    @discardableResult
    func run(_ command: String, _ values: [String: any Sendable] = [:], within seconds: Double = 60) async throws
      -> PythonEvent
    {
      let done = try await peer.ask(command, values, for: "done", within: seconds)
      try require(done.text("do") == command, "\(command) is done: \(done)")
      return done
    }

    /// The page of `landline dev`, open in Firefox.
    /// - Parameter preferences: of Firefox, beside its own.
    func dev(_ preferences: [String: Bool] = [:]) async throws {
      let port = Int(try await run("dev", ["folder": folder.url.path]).number("port") ?? 0)
      try await run("begin", ["folder": folder.url.path, "preferences": preferences])
      try await run("visit", ["address": "http://127.0.0.1:\(port)/"])
    }

    /// What a call to the test number says.
    func words() async throws -> String {
      try await BrowserCase.words(expected: BrowserCase.prompt) {
        try await run("call", ["number": "+46000000000"])
        try await run("shown", ["selector": "#state", "pattern": "Connected"])
        try await run("shown", ["selector": "#result", "pattern": "The other side ended the call", "seconds": 20])
        let file = folder.url.appendingPathComponent("heard.wav")
        try await run("recorded", ["file": file.path])
        return file
      }
    }

    func end() async throws { _ = try await peer.ask("close", for: "closed", within: 30) }
  }

  private static func heardByTheMachinesAddress() async throws -> String {
    let machine = try await Machine(address: address)
    try await machine.dev()
    try await machine.run("call", ["number": "+46000000202"])
    try await machine.run("shown", ["selector": "#state", "pattern": "Connected"])
    try await machine.run("sounded", ["seconds": 0.5])
    let path = try await machine.run("path")
    let remote = path.text("remote") ?? ""
    try require(path.text("state") == "connected" && remote.hasPrefix("\(address):"), "its address: \(path)")
    // Another machine on the same cable, under its own address and under this machine's: nothing of it gets as far as the
    // gateway's socket, which counts what the kernel keeps out.
    let before = try await dropped(machine, remote)
    let stranger = try await machine.run("stranger", ["port": Int(remote.split(separator: ":").last ?? "") ?? 0])
    try require(stranger.number("sent") == 2, "two datagrams are sent: \(stranger)")
    try await machine.run("sounded", ["seconds": 2])
    let after = try await dropped(machine, remote)
    // The one that names this machine as its sender is dropped as such (RFC 1812 section 5.3.7), before it has a socket.
    try require(after == before + 1, "the other is kept out: \(before) before, \(after) after")
    try await machine.run("hang-up")
    try await machine.run("shown", ["selector": "#result", "pattern": "You ended the call"])
    let said = try await machine.words()
    try await machine.end()
    return said
  }

  /// Datagrams that the kernel has kept out of a socket.
  private static func dropped(_ machine: Machine, _ address: String) async throws -> Double {
    let sockets = try await machine.run("sockets")
    for index in 0..<sockets.count("rows") where sockets.text("rows.\(index).address") == address {
      return sockets.number("rows.\(index).dropped") ?? 0
    }
    throw PeerFailure("there is no socket \(address): \(sockets)")
  }

  private static func called() async throws -> String {
    let machine = try await Machine(address: address)
    try await machine.dev()
    try await machine.run("user-calls", ["user": "zoe", "target": "alice"])
    try await machine.run("shown", ["selector": "#incoming", "pattern": "^zoe calls"])
    try await machine.run("click", ["selector": "#ringing button"])
    try await machine.run("shown", ["selector": "#state", "pattern": "Connected"])
    try await machine.run("sounded", ["seconds": 1])
    let caller = try await machine.run("evaluate", ["expression": "otherCall.state"])
    try require(caller.text("value") == "established", "zoe's end of it: \(caller)")
    try await machine.run("hang-up")
    try await machine.run("shown", ["selector": "#result", "pattern": "You ended the call"])
    let cause = try await machine.run("evaluate", ["expression": "otherCall.ended.then(({ cause }) => cause)"])
    try require(cause.text("value") == "hungUp", "told to zoe: \(cause)")
    try await machine.run("user-calls", ["user": "zoe", "target": "alice"])
    try await machine.run("shown", ["selector": "#incoming", "pattern": "^zoe calls"])
    try await machine.run("evaluate", ["expression": "otherCall.hangUp()"])
    let missed = try await machine.run("shown", ["selector": "#missed", "pattern": "zoe"])
    try await machine.end()
    return missed.text("text") ?? ""
  }

  private static func toldWithoutNetwork() async throws -> String {
    let machine = try await Machine(address: nil)
    try await machine.dev()
    try await machine.run("call", ["number": "+46000000202"])
    let told = try await machine.run(
      "shown", ["selector": "main", "pattern": "media\\.peerconnection\\.ice\\.loopback", "seconds": 5])
    let milliseconds = told.number("milliseconds") ?? .infinity
    try require(milliseconds <= mostTellingMilliseconds, "within 3 s: \(milliseconds)")
    let result = try await machine.run(
      "shown", ["selector": "#result", "pattern": "network\\.media", "seconds": 20])
    let text = result.text("text") ?? ""
    try require(text.contains("this browser's own network"), "whose network it is: \(text)")
    try require(!text.contains("The other side ended"), "nobody else is blamed: \(text)")
    try await machine.end()
    return "told after \(Int(milliseconds)) ms"
  }

  private static func heardByLoopback() async throws -> String {
    let machine = try await Machine(address: nil)
    try await machine.dev(["media.peerconnection.ice.loopback": true])
    let said = try await machine.words()
    try await machine.end()
    return said
  }

  private static func heardOverHTTPS() async throws -> String {
    let certificates = try await CertificateFolder.shared()
    let machine = try await Machine(address: address)
    let served = try await machine.run(
      "serve",
      [
        "folder": machine.folder.url.path, "certificate": certificates.server.certificate.path,
        "key": certificates.server.key.path, "host": address,
      ])
    try await machine.run("begin", ["folder": machine.folder.url.path])
    try await machine.run("visit", ["address": "https://\(address):\(Int(served.number("port") ?? 0))/"])
    try await machine.run("sign-in", ["key": served.text("key") ?? ""])
    let said = try await machine.words()
    try await machine.end()
    return said
  }
}
