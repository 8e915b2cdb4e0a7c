/// What became of a protected packet.
public enum SRTPVerdict: Hashable, Sendable {
  /// It is authentic; the buffer holds the plain packet.
  case opened
  /// Too short for what it seems to be, or not RTP or RTCP of version 2.
  case length
  /// Its tag, key name or encryption flag is wrong: it comes from someone else, or was changed.
  case authentication
  /// It came before, or is too old for the replay window.
  case replay
  /// The key has protected as many packets or sources as it may.
  case exhausted
}

/// Who does the cryptography. Both give the same bytes and the same verdicts.
public enum SRTPTransform: Hashable, Sendable, CaseIterable {
  /// Our own on OpenSSL's ciphers.
  case libcrypto
  case libsrtp
}
