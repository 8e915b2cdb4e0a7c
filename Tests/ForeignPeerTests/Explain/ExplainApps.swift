import CallModel
import Foundation
import PeerKit

/// Apps of others in one program, with many calls at a time.
struct ExplainApps: Sendable {
  let peer: PythonPeer
  let gateway: GatewayRunning

  init(_ gateway: GatewayRunning) async throws {
    self.gateway = gateway
    peer = try await PythonPeer(.landlineCalls)
  }

  /// Connects and registers a session; each of an application has a number of its own.
  func register(_ session: String, as payer: GatewayPayer, sequence: Int) async throws {
    _ = try await peer.ask(
      "connect", ["session": session, "port": Int(gateway.httpPort)], for: "\(session):connected", within: 20)
    _ = try await peer.ask(
      "register",
      [
        "session": session, "user": "alice", "application": payer.key, "secret": GatewayPayer.secret,
        "sequence": sequence,
      ], for: "\(session):registered", within: 20)
  }

  @discardableResult
  func told(_ name: String, _ type: String, within seconds: Double = 25) async throws -> PythonEvent {
    do { return try await peer.event("\(name):\(type)", within: seconds) } catch {
      let said = peer.events.filter { $0.name.hasPrefix("\(name):") }.map { String($0.description.prefix(400)) }
      throw PeerFailure("\(error)\n\(name) was told: \(said.joined(separator: "\n"))")
    }
  }

  /// Calls, and waits for the call's id.
  func placed(
    _ call: String, to target: String, kind: String, session: String, _ values: [String: any Sendable] = [:]
  ) async throws -> String {
    try peer.run(
      "call",
      values.merging(["session": session, "call": call, "to": target, "kind": kind]) { $1 })
    guard let id = try await told(call, "placed").text("call") else { throw PeerFailure("\(call) has no id") }
    return id
  }

  /// Calls, and is refused at the door.
  func refused(
    _ call: String, to target: String, kind: String, session: String, _ values: [String: any Sendable] = [:]
  ) async throws -> CallFailure {
    try peer.run(
      "call",
      values.merging(["session": session, "call": call, "to": target, "kind": kind]) { $1 })
    return try Self.failure(try await told(call, "error"))
  }

  func hangUp(_ call: String) throws { try peer.run("hangup", ["call": call]) }

  /// The failure that an `error` tells of.
  private static func failure(_ event: PythonEvent) throws -> CallFailure {
    func text(_ name: String) -> String? { event.text("error.\(name)") }
    guard let code = text("code").flatMap(CallFailureCode.init) else {
      throw PeerFailure("a failure without a code: \(event)")
    }
    let invalid = text("invalid.rule").map {
      InvalidValue(
        kind: text("invalid.kind") ?? "", rule: $0, offset: event.number("error.invalid.offset").map { Int($0) },
        problem: text("invalid.problem") ?? "", accepted: text("invalid.accepted") ?? "")
    }
    return CallFailure(
      code, refusal: text("refusal").flatMap(CallRefusal.init),
      sipStatus: event.number("error.sip_status").map { Int($0) }, phrase: text("phrase"), warning: text("warning"),
      trunk: text("trunk"), leg: text("leg").flatMap(CallLeg.init), invalidValue: invalid)
  }
}
