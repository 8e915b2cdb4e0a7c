import AppProtocol
import CallEngine
import CallModel
import Foundation
import LedgerCore
import PeerKit

/// An app of somebody else, registered with a gateway under test.
struct AppPeer: Sendable {
  static let user = "alice"

  let peer: PythonPeer
  let gateway: GatewayRunning
  let payer: GatewayPayer
  let user: String

  /// Starts, connects and registers it with the signature of the seed.
  /// - Parameters:
  ///   - values: what the registration says beside who it is, as the script's first lines list it.
  ///   - sequence: above those of the user's other devices.
  init(
    _ gateway: GatewayRunning, as payer: GatewayPayer = .main, arguments: [String] = [], user: String = Self.user,
    sequence: Int = 1, _ values: [String: any Sendable] = [:]
  ) async throws {
    self.gateway = gateway
    self.payer = payer
    self.user = user
    peer = try await PythonPeer(.landlineApp, arguments)
    _ = try await peer.ask("connect", ["port": Int(gateway.httpPort)], for: "connected-socket")
    try register(values.merging(["kind": "signature", "sequence": sequence]) { $1 })
    let registered = try await told("registered")
    try require(registered.text("user") == user, "registered as \(user): \(registered)")
  }

  func register(_ values: [String: any Sendable] = ["kind": "signature", "sequence": 1]) throws {
    try peer.run(
      "register",
      ["user": user, "application": payer.key, "secret": GatewayPayer.secret].merging(values) { $1 })
  }

  /// The next message of a type.
  @discardableResult
  func told(_ type: String, within seconds: Double = 10) async throws -> PythonEvent {
    try await peer.event("got-\(type)", within: seconds)
  }

  /// Another app says words, and this one records what it hears meanwhile.
  /// - Returns: what was said, and the recording.
  func listen(
    to words: String, from speaker: AppPeer, in folder: TemporaryFolder
  ) async throws -> (said: Speech, heard: Listening.Result<URL>) {
    let speech = try await Speech(words, in: folder)
    let microphone = folder.url.appendingPathComponent("microphone.wav")
    try SoundFile(speech.file).padded(before: 0.3, after: 1.2).write(to: microphone)
    try await SoundJudge.shared.prepare()
    let listened = try await Listening.during {
      _ = try await peer.ask("record", for: "recording")
      _ = try await speaker.peer.ask("play", ["file": microphone.path], for: "playing")
      return try await EchoCases.recording(of: peer, seconds: SoundFile(microphone).seconds, in: folder)
    }
    return (speech, listened)
  }

  /// How often a message of this type came so far.
  func count(_ type: String) -> Int { peer.events.filter { $0.name == "got-\(type)" }.count }

  func call(_ target: String = GatewayRate.number, _ values: [String: any Sendable] = [:]) throws {
    try peer.run("call", values.merging(["to": target]) { $1 })
  }

  /// Calls, and waits for the call's id.
  func placed(_ target: String = GatewayRate.number, _ values: [String: any Sendable] = [:]) async throws -> String {
    try call(target, values)
    guard let id = try await told("placed").text("call") else { throw PeerFailure("the call has no id") }
    return id
  }

  /// Calls, and waits until sound flows.
  func established(
    _ target: String = GatewayRate.number, _ values: [String: any Sendable] = [:]
  ) async throws -> String {
    let id = try await placed(target, values)
    try await told("accepted")
    try await told("established")
    try await peer.event("connected")
    return id
  }

  /// Is called, agrees on sound while it rings, and answers.
  func answers() async throws {
    try await told("incoming")
    try peer.run("alert", ["early": true])
    try await peer.event("connected")
    try peer.run("accept")
  }

  func hangUp() throws { try peer.run("hangup") }

  /// The end of a call, which must be the last word on it.
  func ended(within seconds: Double = 10) async throws -> PythonEvent { try await told("ended", within: seconds) }

  /// Checks the money of a call that was answered: price, account, hold and record say the same.
  /// - Returns: a few words for the table.
  func charged(_ end: PythonEvent, _ call: String) async throws -> String {
    try await gateway.charged(end, call, payer)
  }

  /// Checks that a call cost nothing and left no hold.
  func uncharged(_ call: String? = nil) async throws { try await gateway.uncharged(call, payer) }
}
