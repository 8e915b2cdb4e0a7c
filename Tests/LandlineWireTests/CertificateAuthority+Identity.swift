import Foundation
import LandlineWire
import PeerKit

extension CertificateAuthority {
  /// - Parameters:
  ///   - names: As in subjectAltName: `DNS:…`, `IP:…`, `URI:…`.
  ///   - days: From when until when it is valid, from now.
  func identity(_ name: String, names: String, days: ClosedRange<Int> = -1...30) async throws -> TLSIdentityFiles {
    let issued = try await issue(name, names: names, days: days)
    return TLSIdentityFiles(certificateChain: issued.certificate.path, privateKey: issued.key.path)
  }

  /// SHA-256 of the first certificate of a file.
  static func fingerprintBytes(of file: String) async throws -> [UInt8] {
    try await fingerprint(of: URL(filePath: file)).split(separator: ":").compactMap { UInt8($0, radix: 16) }
  }
}
