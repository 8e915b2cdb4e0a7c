import Foundation
import PeerKit

/// A page of headless Chromium that calls with landline.js through a gateway under test.
struct LibraryPage: Sendable {
  let peer: PythonPeer
  let gateway: GatewayRunning
  let payer: GatewayPayer
  /// What the driver calls this tab; empty for the first.
  let tab: String
  let user: String

  /// Loads the page; its microphone hears a tone.
  /// - Parameter library: the page's landline.js beside the scripts of the peers; `nil` for today's.
  init(_ gateway: GatewayRunning, as payer: GatewayPayer, library: String? = nil) async throws {
    self.gateway = gateway
    self.payer = payer
    tab = ""
    user = "alice"
    peer = try await PythonPeer(
      .landlineJS,
      ["--origin", "http://127.0.0.1:\(gateway.httpPort)"]
        + (library.map { ["--library", PythonPeer.scripts.appendingPathComponent($0).path] } ?? []))
  }

  /// Opens another tab in a page's browser.
  init(_ tab: String, beside page: LibraryPage, user: String) async throws {
    (peer, gateway, payer) = (page.peer, page.gateway, page.payer)
    self.tab = tab
    self.user = user
    _ = try await peer.ask("tab", ["name": tab], for: "\(tab):loaded")
  }

  /// The driver's name for an event of this tab.
  private func name(_ event: String) -> String { tab.isEmpty ? event : "\(tab):\(event)" }

  /// Writes a command for this tab.
  func run(_ command: String, _ values: [String: any Sendable] = [:]) throws {
    try peer.run(command, tab.isEmpty ? values : values.merging(["tab": tab]) { $1 })
  }

  /// The next event of this tab.
  @discardableResult
  func event(_ event: String, within seconds: Double = 20) async throws -> PythonEvent {
    try await peer.event(name(event), within: seconds)
  }

  /// A command and the event that answers it.
  @discardableResult
  func order(_ command: String, _ values: [String: any Sendable] = [:], for event: String) async throws -> PythonEvent {
    try run(command, values)
    return try await self.event(event, within: 30)
  }

  /// Makes a client; its proof is signed in the page unless `values` want it otherwise.
  func client(_ values: [String: any Sendable] = [:]) async throws {
    let usual: [String: any Sendable] = ["key": payer.key, "user": user, "secret": GatewayPayer.secret]
    _ = try await order("client", usual.merging(values) { $1 }, for: "client")
  }

  func connected(_ values: [String: any Sendable] = [:]) async throws {
    try await client(values)
    _ = try await order("connect", for: "connected")
  }

  /// Connects in vain.
  /// - Returns: what the promise is refused with.
  func refused(_ values: [String: any Sendable] = [:]) async throws -> PythonEvent {
    try await client(values)
    return try await order("connect", for: "not-connected")
  }

  func call(_ target: String = GatewayRate.number, _ values: [String: any Sendable] = [:]) async throws {
    _ = try await order("call", values.merging(["to": target]) { $1 }, for: "asked-for")
  }

  /// The next event of the call under way.
  @discardableResult
  func told(_ event: String, within seconds: Double = 15) async throws -> PythonEvent {
    try await self.event("call-\(event)", within: seconds)
  }

  /// Calls, and waits until sound flows.
  /// - Returns: the call's id.
  func established(
    _ target: String = GatewayRate.number, _ values: [String: any Sendable] = [:]
  ) async throws -> String {
    try await call(target, values)
    guard let id = try await told("placed").text("call") else { throw PeerFailure("the call has no id") }
    try await told("established")
    return id
  }

  /// The end of a call, and what its promise says.
  func ended(within seconds: Double = 15) async throws -> PythonEvent {
    let end = try await told("ended", within: seconds)
    let over = try await event("over")
    try require(over.flag("same") == true, "the promise has what the event has: \(over)")
    return end
  }

  /// Calls in vain, and has the error.
  func failed(_ target: String, _ values: [String: any Sendable] = [:]) async throws -> PythonEvent {
    try await call(target, values)
    let end = try await ended(within: 25)
    try require(end.flag("error.is") == true, "a LandlineError: \(end)")
    return end
  }

  /// Asks a method of the call, which must do it.
  /// - Parameter values: a list of its arguments.
  func ask(_ method: String, _ values: any Sendable = [String]()) async throws {
    _ = try await order("ask", ["method": method, "values": values], for: "did")
  }

  func hangUp() async throws { try await ask("hangUp") }

  /// How half a second sounds.
  struct Sound: Sendable {
    var levels: ClosedRange<Double>
    /// Least share of the tone that the page's microphone hears: of a voice it is small.
    var tone = 0.0
  }
  static let tone = Sound(levels: 0.01...1.0, tone: 0.5)
  static let silence = Sound(levels: 0...0.002)
  /// Longest wait for a sound: what the far end says first takes less than three of these seconds.
  static let soundSeconds = 15.0

  /// Waits until the last half second sounded so.
  func hears(_ sound: Sound, _ what: String) async throws {
    let deadline = Deadline(seconds: Self.soundSeconds)
    _ = try await deadline.first("\(what): \(sound)", everyMilliseconds: 200) { () -> Bool? in
      let heard = try await order("level", ["seconds": 0.5], for: "level")
      let isSo = sound.levels.contains(heard.number("value") ?? -1) && heard.number("tone") ?? -1 >= sound.tone
      return isSo ? true : nil
    }
  }

  /// Sockets that the page has made so far.
  func sockets() async throws -> Int { Int(try await order("left", for: "left").number("made") ?? 0) }

  /// How often something was told so far.
  func count(_ event: String) -> Int { peer.events.filter { $0.name == name(event) }.count }

  /// Nothing that the client opened is left after its end.
  func isEmpty() async throws {
    _ = try await Deadline(seconds: 5).first("end of all that was open", everyMilliseconds: 50) { () -> Bool? in
      let left = try await order("left", for: "left")
      let kinds = ["sockets", "connections", "tracks", "timers", "listeners"]
      return kinds.allSatisfy { left.number($0) == 0 } ? true : nil
    }
  }

  /// What was sent is what the protocol's document says, nothing secret was seen, and no error went astray.
  func isSound() async throws {
    let messages = try await order("messages", for: "messages")
    try require(messages.count("problems") == 0, "every message fits the document: \(messages)")
    try require(messages.count("seen") == 0, "no secret is seen: \(messages)")
    let stray = peer.events.filter { event in
      // The browser itself writes a line for each socket that fails.
      let isBrowsers = event.text("text")?.hasPrefix("WebSocket connection to") ?? false
      return ["unhandled", "page-error"].map(name).contains(event.name)
        || (event.name == name("console") && !isBrowsers)
    }
    try require(stray.isEmpty, "nothing astray: \(stray)")
  }
}
