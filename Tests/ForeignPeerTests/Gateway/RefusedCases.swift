import CallModel
import Foundation
import PeerKit

/// Calls that are refused before anything goes out.
enum RefusedCases {
  private struct Row: Sendable {
    let name: String
    var target = GatewayRate.number
    var values: [String: any Sendable] = [:]
    var payer = GatewayPayer.main
    /// The members of the failure that must be so.
    let expected: [String: String]
  }

  private static let rows: [Row] = [
    Row(
      name: "a header without x-", values: ["headers": ["Route": "<sip:evil.example>"]],
      expected: ["domain": "gateway", "code": "gw.header", "invalid.rule": "header.prefix"]),
    Row(
      name: "a header with a line break", values: ["headers": ["x-order": "1\r\nRoute: <sip:evil.example>"]],
      expected: ["domain": "gateway", "code": "gw.header"]),
    Row(
      name: "headers of more than 1024 bytes",
      values: ["headers": ["x-one": String(repeating: "a", count: 600), "x-two": String(repeating: "b", count: 600)]],
      expected: ["domain": "gateway", "code": "gw.header"]),
    Row(
      name: "150 small headers",
      values: ["headers": Dictionary(uniqueKeysWithValues: (0..<150).map { ("x-\($0)", "1") })],
      expected: ["domain": "gateway", "code": "gw.message", "invalid.rule": "message.many"]),
    Row(
      name: "a test number without +", target: "46000000000",
      expected: ["domain": "gateway", "code": "gw.number", "invalid.rule": "e164.plus"]),
    Row(name: "no number", target: "+46abc", expected: ["domain": "gateway", "code": "gw.number"]),
    Row(name: "a number of no country", target: "+999123456", expected: ["domain": "gateway", "code": "gw.number"]),
    Row(
      name: "no credit", payer: .poor,
      expected: ["domain": "gateway", "code": "gw.funds", "refusal": "insufficientCredit"]),
    Row(
      name: "no rate", target: GatewayRate.unpriced,
      expected: ["domain": "gateway", "code": "gw.rate", "refusal": "noRate"]),
    Row(name: "an account without prices", payer: .bare, expected: ["domain": "gateway", "code": "gw.rate"]),
    Row(
      name: "a caller's number of others", values: ["caller": "+46109999999"],
      expected: ["domain": "gateway", "code": "gw.policy", "sip_status": "403", "invalid.rule": "caller.owned"]),
    Row(name: "a broken offer", values: ["offer": "v=0\r\n"], expected: ["domain": "sip", "code": "sip.media"]),
    Row(
      name: "a SIP address elsewhere on this host", target: "bob@127.0.0.2", values: ["kind": "sip"],
      expected: ["domain": "gateway", "code": "gw.policy"]),
  ]

  static let cases: [PeerCase] = [
    GatewayCase.make(
      "UDP socket", "UDP", "refused before any INVITE",
      expected: "\(rows.count) typed refusals, nothing arrives at the trunk, no hold"
    ) {
      let socket = try DatagramPeer(target: 9)
      let payers: [GatewayPayer] = [.main, .poor, .bare, .trial]
      return try await GatewayRunning.run(GatewaySettings([.init(port: socket.port)], payers: payers)) { gateway in
        for payer in [GatewayPayer.main, .poor, .bare] {
          let app = try await AppPeer(gateway, as: payer)
          _ = try await GatewayCase.reported(app) {
            for row in rows where row.payer.name == payer.name { try await refused(row, app, socket) }
            return ""
          }
        }
        return rows.map(\.name).joined(separator: ", ")
      }
    }
  ]

  private static func refused(_ row: Row, _ app: AppPeer, _ socket: DatagramPeer) async throws {
    try app.call(row.target, row.values)
    let error = try await app.told("error")
    try require(error.text("asked") == "call", "the reply to the call: \(error)")
    for (member, value) in row.expected {
      let said = error.text("error.\(member)") ?? error.number("error.\(member)").map { String(Int($0)) }
      try require(said == value, "\(row.name): \(member) is \(value): \(error)")
    }
    try require(error.text("error.message") != nil && error.text("error.retry") != nil, "\(row.name): words: \(error)")
    try require(app.count("placed") == 0, "\(row.name): no call")
    try await app.uncharged()
    let arrived = socket.messages().map(\.startLine)
    try require(arrived.isEmpty, "\(row.name): nothing arrives at the trunk: \(arrived)")
  }
}
