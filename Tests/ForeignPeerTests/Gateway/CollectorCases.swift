import Foundation
import Glibc
import PeerKit

/// Copies of a call's messages for a collector that speaks HEP3.
enum CollectorCases {
  static let cases: [PeerCase] = [
    GatewayCase.make(
      "SIPp", "udp", "a collector gets copies", expected: "every message of the dialog, one correlation, no secret"
    ) {
      let (descriptor, port) = try FreePort.bound(isDatagram: true)
      defer { close(descriptor) }
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      var options = SIPpPeer.Options()
      options.echoesMedia = true
      let sipp = try await SIPpPeer(SIPpCase.scenario("gateway-answers"), as: .server, options)
      var settings = GatewaySettings([.init(port: sipp.port)], payers: [.main, .trial])
      settings.collector = port
      return try await GatewayRunning.run(settings) { gateway in
        let app = try await AppPeer(gateway, as: .main)
        let call = try await app.established()
        try app.hangUp()
        _ = try await app.ended()
        try await sipp.succeeds()
        var packets: [[UInt8]] = []
        let wanted = ["INVITE sip:", "SIP/2.0 200", "ACK sip:", "BYE sip:"]
        _ = try await Deadline(seconds: 20).first("copies of \(wanted)") {
          var buffer = [UInt8](repeating: 0, count: 65_536)
          while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            packets.append(Array(buffer[0..<count]))
          }
          let hasAll = wanted.allSatisfy { text in
            packets.contains { $0.firstRange(of: Array(text.utf8)) != nil }
          }
          return hasAll ? true : nil
        }
        try require(packets.allSatisfy { $0.starts(with: Array("HEP3".utf8)) }, "all are HEP3")
        try require(
          packets.allSatisfy { $0.firstRange(of: Array(call.utf8)) != nil }, "all carry the call's id \(call)")
        return "\(packets.count) packets"
      }
    }
  ]
}
