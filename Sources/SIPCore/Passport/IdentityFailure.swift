/// Why a signed caller identity does not hold (RFC 8224 section 6.2.2).
public struct IdentityFailure: Error, Hashable, Sendable {
  /// What is wrong, for rules and tests.
  public enum Reason: String, Hashable, Sendable, CaseIterable {
    /// More Identity fields, or longer ones, than are read.
    case tooMuch
    /// The field or its token cannot be read.
    case malformed
    /// The compact form (RFC 8225 section 7), which SHAKEN does not allow.
    case compact
    /// Another algorithm than ES256.
    case algorithm
    /// The token is no PASSporT, or of another kind than the field says.
    case kind
    /// The field's `info` is not the token's `x5u`.
    case info
    /// The certificate's address is none that is fetched from: https only.
    case address
    /// A claim is missing, or has a value that it cannot have.
    case claims
    /// Another caller was signed.
    case caller
    /// Another called number was signed.
    case called
    /// Signed too long ago, or in the future.
    case stale
    /// The certificate could not be fetched.
    case unreachable
    /// What was fetched is no certificate on the curve P-256.
    case certificate
    /// The certificate does not lead to a trusted authority.
    case untrusted
    /// A certificate of the chain is not valid now.
    case expired
    /// The certificate gives no right to the number.
    case authority
    /// The signature is not that of the certificate's key.
    case signature
  }

  public var reason: Reason
  /// One sentence without a full stop, without control characters, for people.
  public var text: String

  public init(_ reason: Reason, _ text: String) {
    self.reason = reason
    self.text = text
  }

  /// The response where calls with such an identity are refused.
  public var status: Int {
    switch reason {
    case .stale: 403
    case .info, .address, .unreachable: 436
    case .certificate, .untrusted, .expired, .authority: 437
    case .tooMuch, .malformed, .compact, .algorithm, .kind, .claims, .caller, .called, .signature: 438
    }
  }
}

/// What became of the Identity fields of a call.
public enum IdentityVerdict: Hashable, Sendable {
  /// The call has none that says anything: no field, or only kinds that are not known here.
  case absent
  /// Signed by somebody with a right to the number.
  case verified(VerifiedIdentity)
  case failed(IdentityFailure)
  /// A certificate did not come in time: nothing is known.
  case late
}

/// A caller identity whose signature holds.
public struct VerifiedIdentity: Hashable, Sendable {
  /// How far the signer vouches for the caller (RFC 8588 section 4).
  public enum Attestation: String, Hashable, Sendable, CaseIterable {
    /// The signer knows the caller and its right to the number.
    case full = "A"
    /// The signer knows the caller, and not whether the number is its own.
    case partial = "B"
    /// The signer knows where the call entered its network.
    case gateway = "C"
  }

  public var attestation: Attestation
  /// The number that the call was diverted from last, where it was (RFC 8946); digits without `+`.
  public var divertedBy: String?

  public init(_ attestation: Attestation, divertedBy: String? = nil) {
    self.attestation = attestation
    self.divertedBy = divertedBy
  }
}
