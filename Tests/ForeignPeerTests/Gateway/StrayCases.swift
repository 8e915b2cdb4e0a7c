import AppProtocol
import CallEngine
import CallModel
import Foundation
import NodeCore
import PeerKit

/// Calls from trunks, for which there is nobody.
enum StrayCases {
  static let cases: [PeerCase] = [
    stray("from a trunk, for a number of nobody", user: "+46700000099", trunk: "127.0.0.1", status: 404),
    stray("from a trunk, for a number of ours", user: GatewayRate.caller, trunk: "127.0.0.1", status: 480),
  ]

  private static func stray(
    _ name: String, user: String, trunk: String, status: Int
  ) -> PeerCase {
    PeerCase(
      peer: "SIPp", transport: SIPpPeer.Transport.udp.rawName, "it calls the gateway: \(name)",
      expected: "\(status), and a record that says why"
    ) {
      let settings = GatewaySettings([
        .init("first", uri: "sip:\(trunk):5060", ["caller:", "  numbers: [\"\(GatewayRate.caller)\"]"])
      ])
      return try await GatewayRunning.run(settings) { gateway in
        var options = SIPpPeer.Options()
        options.user = user
        options.keys = ["refusal": String(status)]
        let sipp = try await SIPpPeer(
          SIPpCase.scenario("call-to-gateway"), as: .client(target: gateway.ports.sip), options)
        do { try await sipp.succeeds() } catch { throw PeerFailure("\(error)\n\(sipp.transcript)") }
        let records = try await gateway.stores().records.records(.init())
        let code = records.records.first?.summary.failure?.code
        try require(
          records.records.count == 1 && code == (status == 404 ? .numberUnknown : .numberUnserved),
          "one record, which says why: \(records.records)")
        return String(status)
      }
    }
  }
}
