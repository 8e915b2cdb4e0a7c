import AppProtocol
import CallEngine
import Foundation
import LedgerCore
import PeerKit

/// A browser window of somebody on the pages of a gateway under test.
struct BrowserWindow: Sendable {
  /// All files of the pages together, as they come over the wire.
  static let mostBytes = 150_000

  let peer: PythonPeer
  let name: String
  /// What the gateway logged.
  private let log: @Sendable () -> [String]

  /// Opens it.
  /// - Parameters:
  ///   - port: of the gateway's HTTP.
  ///   - isRelayed: Whether its connections can be cut.
  init(
    _ peer: PythonPeer, port: UInt16, isRelayed: Bool = false, log: @escaping @Sendable () -> [String]
  ) async throws {
    self.peer = peer
    self.log = log
    name = await BrowserDriver.shared.name()
    try await run("begin", ["port": Int(port), "relayed": isRelayed])
  }

  init(_ peer: PythonPeer, _ gateway: GatewayRunning, isRelayed: Bool = false) async throws {
    let log = gateway.log
    try await self.init(peer, port: gateway.httpPort, isRelayed: isRelayed) { log.lines }
  }

  /// Opens it, shows a page, and signs in there by keyboard.
  init(
    _ peer: PythonPeer, _ gateway: GatewayRunning, as person: BrowserPerson, at path: String = "/",
    isRelayed: Bool = false
  ) async throws {
    try await self.init(peer, gateway, isRelayed: isRelayed)
    try await run("visit", ["path": path])
    try await run("sign-in", ["key": person.key])
  }

  @discardableResult
  func run(
    _ command: String, _ values: [String: any Sendable] = [:], within seconds: Double = 40
  ) async throws -> PythonEvent {
    let done = try await peer.ask(command, values.merging(["person": name]) { $1 }, for: "done", within: seconds)
    try require(done.text("do") == command, "\(command) is done: \(done)")
    return done
  }

  // MARK: Calls

  /// Calls by clicks, or by keys alone, and waits until the browser is connected.
  /// - Returns: the call's id.
  func call(_ number: String, byKeys: Bool = false) async throws -> String {
    guard let id = try await run(byKeys ? "key-call" : "call", ["number": number]).text("call") else {
      throw PeerFailure("the call to \(number) has no id")
    }
    return id
  }

  /// What the app was told at the end of a call.
  func ended(_ call: String) async throws -> PythonEvent { try await run("ended", ["call": call]) }

  /// Waits until so much of a call was heard, and keeps it.
  func heard(seconds: Double, in folder: TemporaryFolder) async throws -> URL {
    let file = folder.url.appendingPathComponent("heard-\(UUID().uuidString).wav")
    return try await Deadline(seconds: 30).first("recording of \(seconds) s", everyMilliseconds: 200) {
      try await run("recorded", ["file": file.path]).number("seconds") ?? 0 >= seconds ? file : nil
    }
  }

  // MARK: Pages

  func text(_ path: String? = nil) async throws -> String {
    try await run("text", path.map { ["path": $0] } ?? [:]).text("text") ?? ""
  }

  /// What the interface answers to the page.
  func ask(
    _ path: String, method: String = "GET", _ body: [String: String]? = nil
  ) async throws -> (status: Int, body: String) {
    var values: [String: any Sendable] = ["path": path, "method": method]
    if let body { values["body"] = body }
    let answer = try await run("ask", values)
    return (Int(answer.number("status") ?? 0), answer.text("body") ?? "")
  }

  /// Closes it, after nothing was found that should not be: no request of another host, no complaint on the console, no
  /// breach of the policy, no secret in an address, a header, the storage, the console or the gateway's log.
  /// - Parameter allowed: patterns of lines on the console that the case has caused.
  /// - Returns: the bytes of the pages' files.
  @discardableResult
  func close(allowing allowed: [String] = []) async throws -> Int {
    let found = try await run("audit", ["allowed": allowed])
    for what in ["foreign", "console", "violations", "policies", "leaks"] {
      try require(found.count(what) == 0, "nothing is amiss with \(what): \(found.texts(what))")
    }
    let bytes = Int(found.number("bytes") ?? 0)
    try require((1..<Self.mostBytes).contains(bytes), "\(bytes) bytes, less than \(Self.mostBytes)")
    let secrets = found.texts("secrets").filter { $0.count > 7 }
    try require(!secrets.isEmpty, "there were secrets to look for")
    let told = log().filter { line in secrets.contains { line.contains($0) } }
    try require(told.isEmpty, "no secret is in the log: \(told.prefix(3))")
    try await run("end")
    return bytes
  }
}

extension PythonEvent {
  /// A list of texts.
  func texts(_ path: String) -> [String] { (0..<count(path)).compactMap { text("\(path).\($0)") } }
}
