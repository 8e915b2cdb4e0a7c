public import CallModel
import LandlineDigest

/// The Identity fields of one call, judged in two steps: what can be told from the fields alone, and then with the
/// certificates that they name.
///
/// ```
///   fields, numbers, time ─▶ IdentityExamination ─▶ wanted addresses ─▶ (somebody fetches) ─▶ verdict
/// ```
///
/// A call is verified where one `shaken` token holds that was signed for its caller, and for its called number or, by a chain
/// of `div` tokens, for numbers that it was diverted from (RFC 8946). Nothing is fetched for a token that fails anyhow.
public struct IdentityExamination: Sendable {
  /// Most Identity fields of a call; more of them fail it.
  public static let maximumFields = 8
  /// Most bytes of one field's value.
  public static let maximumFieldBytes = 4_000
  /// Most diversions in a chain of `div` tokens.
  public static let maximumDiversions = 5
  /// Seconds from the signature to the call, and the other way for clocks that differ (RFC 8224 section 4.1).
  public static let freshSeconds: Int64 = 60

  /// What the tokens are compared with.
  public struct Numbers: Hashable, Sendable {
    /// Of the caller, as digits; `nil` for a caller without a number.
    public var caller: String?
    /// Of To and of the Request-URI, as digits.
    public var called: [String]

    public init(caller: E164Number?, called: [E164Number]) {
      self.caller = caller.map(\.digits)
      self.called = called.map(\.digits)
    }
  }

  /// What was fetched from an address, or why nothing was.
  public enum Certificate: Hashable, Sendable {
    case fetched([UInt8])
    /// The words say why, for people.
    case unreachable(String)
    /// It did not come in time.
    case late
  }

  /// Tokens that are true together: one `shaken`, and the `div` ones from it to the called number.
  private struct Chain: Hashable {
    let attestation: VerifiedIdentity.Attestation
    let passports: [Passport]
    let divertedBy: String?
  }

  private var chains: [Chain] = []
  /// The first of the fields that fail by themselves.
  private var failure: IdentityFailure?

  /// - Parameters:
  ///   - fields: The values of all Identity fields.
  ///   - clock: Now, in seconds that the signers have too.
  public init(_ fields: [String], for numbers: Numbers, at clock: Instant) {
    guard fields.count <= IdentityExamination.maximumFields,
      fields.allSatisfy({ $0.utf8.count <= IdentityExamination.maximumFieldBytes })
    else {
      failure = IdentityFailure(
        .tooMuch,
        "the call has more than \(IdentityExamination.maximumFields) Identity fields, or one above "
          + "\(IdentityExamination.maximumFieldBytes) bytes")
      return
    }
    var passports: [Passport] = []
    for field in fields {
      do throws(IdentityFailure) {
        guard let field = try IdentityField(field), let passport = try Passport(field) else { continue }
        try IdentityExamination.checkTime(passport, clock)
        passports.append(passport)
      } catch {
        failure = failure ?? error
      }
    }
    for passport in passports {
      guard case .shaken(let attestation) = passport.kind else { continue }
      do throws(IdentityFailure) {
        guard let caller = numbers.caller else {
          throw IdentityFailure(.caller, "the call names no number that the signed one could be compared with")
        }
        guard passport.origin == caller else {
          throw IdentityFailure(.caller, "another caller's number was signed")
        }
        guard let way = IdentityExamination.way(from: passport, to: numbers.called, passports) else {
          throw IdentityFailure(.called, "another called number was signed")
        }
        var divertedBy: String?
        if case .diversion(let number)? = way.last?.kind { divertedBy = number }
        chains.append(Chain(attestation: attestation, passports: [passport] + way, divertedBy: divertedBy))
      } catch {
        failure = failure ?? error
      }
    }
    if chains.isEmpty, failure == nil, !passports.isEmpty {
      failure = IdentityFailure(.claims, "there are tokens of diversions, and none of a caller")
    }
  }

  private static func checkTime(_ passport: Passport, _ clock: Instant) throws(IdentityFailure) {
    let now = clock.milliseconds / 1000
    // Far from any overflow: no token of the years before 1970 or after 9999.
    guard (0...253_402_300_799).contains(passport.issuedAt) else {
      throw IdentityFailure(.stale, "iat is no time of this age")
    }
    let age = now - passport.issuedAt
    guard age <= freshSeconds else {
      throw IdentityFailure(.stale, "it was signed \(age) s ago, and \(freshSeconds) s is the limit")
    }
    guard age >= -freshSeconds else { throw IdentityFailure(.stale, "it was signed \(-age) s in the future") }
  }

  /// The diversions from the numbers that a token was signed for to one that is called now, the last one last; empty where
  /// there was none. Followed from the called number inwards.
  private static func way(
    from passport: Passport, to called: [String], _ passports: [Passport]
  ) -> [Passport]? {
    var numbers = Set(called)
    var way: [Passport] = []
    for _ in 0...maximumDiversions {
      if passport.destinations.contains(where: numbers.contains) { return way.reversed() }
      let next = passports.first { other in
        guard case .diversion = other.kind, !way.contains(other), other.origin == passport.origin else { return false }
        return other.destinations.contains(where: numbers.contains)
      }
      guard let next, case .diversion(let number) = next.kind else { return nil }
      way.append(next)
      numbers = [number]
    }
    return nil
  }

  /// Where the certificates are that a verdict needs, each once; empty where the fields decide it.
  public var wanted: [WebAddress] {
    var wanted: [WebAddress] = []
    for passport in chains.lazy.flatMap(\.passports) where !wanted.contains(passport.address) {
      wanted.append(passport.address)
    }
    return wanted
  }

  /// What holds of the call.
  /// - Parameter certificates: One for each of ``wanted``; one that is missing counts as late.
  public func verdict(
    _ certificates: [WebAddress: Certificate], _ authorities: IdentityAuthorities, at clock: Instant
  ) -> IdentityVerdict {
    var failure = failure
    var isLate = false
    for chain in chains {
      do throws(IdentityFailure) {
        guard try IdentityExamination.holds(chain, certificates, authorities, clock) else {
          isLate = true
          continue
        }
        return .verified(VerifiedIdentity(chain.attestation, divertedBy: chain.divertedBy))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { return .failed(failure) }
    return isLate ? .late : .absent
  }

  /// - Returns: false where a certificate is missing.
  private static func holds(
    _ chain: Chain, _ certificates: [WebAddress: Certificate], _ authorities: IdentityAuthorities, _ clock: Instant
  ) throws(IdentityFailure) -> Bool {
    for passport in chain.passports {
      switch certificates[passport.address] {
      case nil, .late: return false
      case .unreachable(let problem):
        throw IdentityFailure(.unreachable, "the certificate cannot be fetched: \(problem)")
      case .fetched(let bytes):
        let key = try authorities.key(bytes, for: passport.signedNumber, at: clock)
        guard ES256.verifies(passport.signature, of: passport.signed, key: key) else {
          throw IdentityFailure(.signature, "the signature is not that of the certificate")
        }
      }
    }
    return true
  }
}
