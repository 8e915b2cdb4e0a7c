import CallModel
import Foundation
import SDPCore
import TestVectors

/// Descriptions, policies and local media that the tests share.
enum SDPFixtures {
  static func bytes(_ file: String) throws -> [UInt8] {
    Array(try Data(contentsOf: TestVectors.folder.appendingPathComponent("sdp/\(file)")))
  }

  /// Lines joined with CRLF below the four lines every description begins with.
  static func description(_ lines: String..., connection: String = "c=IN IP4 192.0.2.7") throws -> SessionDescription {
    try SessionDescription(parsing: text(lines, connection: connection))
  }

  static func text(_ lines: [String], connection: String = "c=IN IP4 192.0.2.7") -> String {
    (["v=0", "o=- 7 1 IN IP4 192.0.2.7", "s=-", connection, "t=0 0"] + lines).map { $0 + "\r\n" }.joined()
  }

  static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")

  static let keyMaterial = (0..<LocalMedia.keyMaterialLength).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }

  static let local = LocalMedia(
    host: .ipv4(0xC633_6401), port: 40_000, keyMaterial: keyMaterial,
    fingerprint: CertificateFingerprint(hash: .sha256, bytes: [UInt8](repeating: 0x5A, count: 32)),
    iceCredentials: ICECredentials(userFragment: "gwUf", password: "gatewayPassword0123456789"),
    candidates: [
      ICECandidate(foundation: "1", component: 1, priority: 2_130_706_431, address: "198.51.100.1", port: 40_000)
    ])

  /// Everything is allowed, so that the offer alone decides.
  static let open = MediaPolicy(
    codecs: [.opus, .pcmu, .pcma], protection: [.none, .sdes, .dtls], multiplexesRTCP: true, ice: .lite)

  static func end(_ policy: MediaPolicy) -> OfferAnswer {
    OfferAnswer(sessionID: 4_611, host: .ipv4(0xC633_6401), policy: policy)
  }

  /// The audio section of a description of ours.
  static func audio(_ description: SessionDescription) -> MediaSection? {
    description.sections.first { $0.isAudio && $0.port != 0 }
  }
}
