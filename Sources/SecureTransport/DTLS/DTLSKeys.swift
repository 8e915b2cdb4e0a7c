import CLandlineTLS
public import SDPCore

/// What a finished DTLS handshake yields for SRTP (RFC 5764 section 4.2).
public struct DTLSKeys: Hashable, Sendable {
  /// The SRTP protection profile that both ends agreed on in the handshake.
  public let suite: CryptoSuite
  /// Ours: protects what we send.
  public let send: SRTPMasterKey
  /// The peer's: opens what we receive.
  public let receive: SRTPMasterKey

  /// Parts the exported material: client key, server key, client salt, server salt. `nil` when it has another length.
  init?(_ material: UnsafeRawBufferPointer, suite: CryptoSuite, role: MediaPlan.DTLS.Role) {
    let key = suite.keyLength
    let salt = suite.saltLength
    guard material.count == 2 * (key + salt) else { return nil }
    let client = Array(material[0..<key]) + Array(material[(2 * key)..<(2 * key + salt)])
    let server = Array(material[key..<(2 * key)]) + Array(material[(2 * key + salt)...])
    self.suite = suite
    send = SRTPMasterKey(keyAndSalt: role == .client ? client : server)
    receive = SRTPMasterKey(keyAndSalt: role == .client ? server : client)
  }

  /// Asks libssl for the material of a finished handshake.
  init?(of association: OpaquePointer, role: MediaPlan.DTLS.Role) {
    let profile = landline_dtls_profile(association)
    guard let suite = CryptoSuite.allCases.first(where: { $0.protectionProfile?.number == profile }) else { return nil }
    let count = 2 * (suite.keyLength + suite.saltLength)
    let keys: DTLSKeys? = withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { room in
      defer { landline_dtls_erase(room.baseAddress, room.count) }
      guard landline_dtls_export(association, room.baseAddress?.assumingMemoryBound(to: UInt8.self), count) else {
        return nil
      }
      return DTLSKeys(UnsafeRawBufferPointer(room), suite: suite, role: role)
    }
    guard let keys else { return nil }
    self = keys
  }
}

extension CryptoSuite {
  /// The number and libssl's name of the SRTP protection profile for DTLS (RFC 5764 section 4.1.2, RFC 7714 section
  /// 14.2); `nil` for suites that only SDES knows.
  var protectionProfile: (number: UInt, name: String)? {
    switch self {
    case .aesCM128HMAC80: (1, "SRTP_AES128_CM_SHA1_80")
    case .aesCM128HMAC32: (2, "SRTP_AES128_CM_SHA1_32")
    case .aesGCM128: (7, "SRTP_AEAD_AES_128_GCM")
    case .aesGCM256: (8, "SRTP_AEAD_AES_256_GCM")
    case .aesCM192HMAC80, .aesCM192HMAC32, .aesCM256HMAC80, .aesCM256HMAC32: nil
    }
  }
}
