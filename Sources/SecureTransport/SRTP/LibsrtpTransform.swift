import CLandlineSRTP
import SDPCore

/// The same door over libsrtp2.
///
/// Not with AES-192: built on NSS, as Debian builds it, the library accepts such a key and makes packets that nobody else
/// can open, its own reference packet among them.
final class LibsrtpTransform {
  /// Sources that libsrtp keeps state for; it knows no limit of its own.
  private var sources: ContiguousArray<UInt32> = []
  private let session: srtp_t
  private let suite: CryptoSuite
  private let keyAndSalt: [UInt8]
  private let identifier: [UInt8]
  private let isSender: Bool
  private let former = PacketBuffer()

  /// Once per process.
  private static let isReady = srtp_init() == srtp_err_status_ok

  init?(_ suite: CryptoSuite, keyAndSalt: [UInt8], layout: SRTPLayout, seals: Bool) {
    guard LibsrtpTransform.isReady, suite.keyLength != 24, keyAndSalt.count == suite.keyLength + suite.saltLength else {
      return nil
    }
    var created: srtp_t?
    let status = LibsrtpTransform.withPolicy(
      suite, keyAndSalt, layout.identifier,
      source: srtp_ssrc_t(type: seals ? ssrc_any_outbound : ssrc_any_inbound, value: 0)
    ) { policy in srtp_create(&created, policy) }
    guard status == srtp_err_status_ok, let created else { return nil }
    session = created
    self.suite = suite
    self.keyAndSalt = keyAndSalt
    identifier = layout.identifier
    isSender = seals
  }

  deinit { srtp_dealloc(session) }

  func protectRTP(_ packet: PacketBuffer) -> Bool {
    guard remember(packet.integer(at: 8, as: UInt32.self)) else { return false }
    var count = Int32(packet.count)
    guard srtp_protect_mki(session, packet.base, &count, usesIdentifier, 0) == srtp_err_status_ok else { return false }
    packet.count = Int(count)
    return true
  }

  func protectRTCP(_ packet: PacketBuffer) -> Bool {
    guard remember(packet.integer(at: 4, as: UInt32.self)) else { return false }
    var count = Int32(packet.count)
    guard srtp_protect_rtcp_mki(session, packet.base, &count, usesIdentifier, 0) == srtp_err_status_ok else {
      return false
    }
    packet.count = Int(count)
    return true
  }

  func unprotectRTP(_ packet: PacketBuffer) -> SRTPVerdict {
    open(packet, from: packet.integer(at: 8, as: UInt32.self)) { count in
      srtp_unprotect_mki(session, packet.base, &count, usesIdentifier)
    }
  }

  func unprotectRTCP(_ packet: PacketBuffer) -> SRTPVerdict {
    open(packet, from: packet.integer(at: 4, as: UInt32.self)) { count in
      srtp_unprotect_rtcp_mki(session, packet.base, &count, usesIdentifier)
    }
  }

  /// The library may have changed the bytes of a packet that it refuses: they are put back.
  private func open(_ packet: PacketBuffer, from source: UInt32, _ body: (inout Int32) -> srtp_err_status_t)
    -> SRTPVerdict
  {
    var count = Int32(packet.count)
    former.copy(packet, from: 0, count: packet.count, to: 0)
    let status = body(&count)
    let isKnown = sources.contains(source)
    if status == srtp_err_status_ok {
      if isKnown || sources.count < SRTPStreams.maximumSources {
        if !isKnown { sources.append(source) }
        packet.count = Int(count)
        return .opened
      }
      // libsrtp keys its list by the number in network order.
      srtp_remove_stream(session, source.bigEndian)
    }
    packet.copy(former, from: 0, count: packet.count, to: 0)
    switch status {
    case srtp_err_status_ok, srtp_err_status_key_expired: return .exhausted
    case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: return .replay
    default: return .authentication
    }
  }

  private var usesIdentifier: UInt32 { identifier.isEmpty ? 0 : 1 }

  private func remember(_ source: UInt32) -> Bool {
    if sources.contains(source) { return true }
    guard sources.count < SRTPStreams.maximumSources else { return false }
    sources.append(source)
    return true
  }

  func resume(_ source: UInt32, rollover: UInt32) -> Bool {
    guard remember(source) else { return false }
    let added = LibsrtpTransform.withPolicy(
      suite, keyAndSalt, identifier, source: srtp_ssrc_t(type: ssrc_specific, value: source)
    ) { policy in srtp_add_stream(session, policy) }
    return added == srtp_err_status_ok && srtp_set_stream_roc(session, source, rollover) == srtp_err_status_ok
  }

  private static func withPolicy(
    _ suite: CryptoSuite, _ keyAndSalt: [UInt8], _ identifier: [UInt8], source: srtp_ssrc_t,
    _ body: (UnsafePointer<srtp_policy_t>) -> srtp_err_status_t
  ) -> srtp_err_status_t {
    var policy = srtp_policy_t()
    set(&policy, suite)
    policy.ssrc = source
    policy.window_size = UInt(ReplayWindow.width)
    var key = keyAndSalt
    var name = identifier
    return key.withUnsafeMutableBufferPointer { key in
      name.withUnsafeMutableBufferPointer { name in
        guard !name.isEmpty else {
          policy.key = key.baseAddress
          return body(&policy)
        }
        var master = srtp_master_key_t(key: key.baseAddress, mki_id: name.baseAddress, mki_size: UInt32(name.count))
        return withUnsafeMutablePointer(to: &master) { master in
          var list: UnsafeMutablePointer<srtp_master_key_t>? = master
          return withUnsafeMutablePointer(to: &list) { list in
            policy.keys = list
            policy.num_master_keys = 1
            return body(&policy)
          }
        }
      }
    }
  }

  private static func set(_ policy: inout srtp_policy_t, _ suite: CryptoSuite) {
    switch suite {
    case .aesCM128HMAC80, .aesCM128HMAC32:
      srtp_crypto_policy_set_rtp_default(&policy.rtp)
      srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
    case .aesCM192HMAC80, .aesCM192HMAC32: break
    case .aesCM256HMAC80, .aesCM256HMAC32:
      srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy.rtp)
      srtp_crypto_policy_set_aes_cm_256_hmac_sha1_80(&policy.rtcp)
    case .aesGCM128:
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aesGCM256:
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
      srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
    }
    switch suite {
    case .aesCM128HMAC32: srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&policy.rtp)
    case .aesCM256HMAC32: srtp_crypto_policy_set_aes_cm_256_hmac_sha1_32(&policy.rtp)
    default: break
    }
  }
}
