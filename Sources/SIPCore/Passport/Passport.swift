import CallModel
import LandlineDigest

/// A PASSporT in its full form (RFC 8225) of one of the two kinds that are read: `shaken` (RFC 8588) and `div` (RFC 8946).
/// What it claims is read; whether it is true is for ``IdentityExamination``.
struct Passport: Hashable {
  /// Most bytes of the decoded header and of the decoded claims.
  static let maximumPartBytes = 3072
  /// Most numbers of `dest`.
  static let maximumDestinations = 32

  enum Kind: Hashable {
    case shaken(VerifiedIdentity.Attestation)
    /// The number that diverted the call; digits alone.
    case diversion(String)
  }

  let kind: Kind
  /// Where the certificate is.
  let address: WebAddress
  /// Digits alone.
  let origin: String
  /// Digits alone, each of them.
  let destinations: [String]
  /// Seconds since 1970.
  let issuedAt: Int64
  /// What was signed: header and claims as they were sent.
  let signed: [UInt8]
  /// R and S.
  let signature: [UInt8]

  /// The number that the signer has to have a right to.
  var signedNumber: String {
    switch kind {
    case .shaken: origin
    case .diversion(let number): number
    }
  }

  /// - Returns: `nil` for a kind that is not read here, which says nothing.
  init?(_ field: IdentityField) throws(IdentityFailure) {
    let isRead = ["shaken", "div"].contains(field.kind)
    let parts = field.token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw IdentityFailure(.malformed, "the token has not three parts with full stops between")
    }
    if parts[0].isEmpty, parts[1].isEmpty {
      guard isRead else { return nil }
      throw IdentityFailure(.compact, "the token is in the compact form, which SHAKEN does not allow")
    }
    let header: JSONValue
    do throws(IdentityFailure) {
      header = try Passport.object(parts[0], "header")
    } catch {
      // Other kinds may be written in ways that are not known here.
      guard isRead else { return nil }
      throw error
    }
    let kind = try Passport.text(header["ppt"], "ppt")
    guard field.kind == kind?.lowercased() else {
      throw IdentityFailure(.kind, "the parameter ppt of the field is not the ppt of the token")
    }
    guard let kind, ["shaken", "div"].contains(kind.lowercased()) else { return nil }
    guard header["alg"]?.stringValue == "ES256", field.algorithm == nil || field.algorithm == "ES256" else {
      throw IdentityFailure(.algorithm, "the token is not signed with ES256")
    }
    guard header["typ"]?.stringValue == "passport" else {
      throw IdentityFailure(.kind, "the token does not say that it is a PASSporT")
    }
    guard header["crit"] == nil else {
      throw IdentityFailure(.kind, "the token demands an extension that is not known here")
    }
    guard let x5u = header["x5u"]?.stringValue, field.info == x5u else {
      throw IdentityFailure(.info, "the parameter info of the field is not the x5u of the token")
    }
    do throws(InvalidValue) {
      address = try WebAddress(x5u)
    } catch {
      throw IdentityFailure(.address, "the certificate's address cannot be used: \(error.problem)")
    }
    let claims = try Passport.object(parts[1], "claims")
    guard let time = claims["iat"] else { throw IdentityFailure(.claims, "iat is missing") }
    guard let issuedAt = time.integerValue else {
      throw IdentityFailure(.claims, "iat is \(time.kind), not a whole number")
    }
    self.issuedAt = issuedAt
    guard let origin = Passport.digits(claims["orig"]?["tn"]?.stringValue) else {
      throw IdentityFailure(.claims, "orig names no telephone number")
    }
    self.origin = origin
    guard case .array(let numbers)? = claims["dest"]?["tn"], numbers.count <= Passport.maximumDestinations else {
      throw IdentityFailure(.claims, "dest has no list of telephone numbers")
    }
    destinations = numbers.compactMap { Passport.digits($0.stringValue) }
    guard !destinations.isEmpty, destinations.count == numbers.count else {
      throw IdentityFailure(.claims, "dest names something that is no telephone number")
    }
    if kind.lowercased() == "shaken" {
      guard let attestation = (claims["attest"]?.stringValue).flatMap(VerifiedIdentity.Attestation.init) else {
        throw IdentityFailure(.claims, "attest is none of A, B and C")
      }
      guard let name = claims["origid"]?.stringValue, !name.isEmpty else {
        throw IdentityFailure(.claims, "origid is missing")
      }
      self.kind = .shaken(attestation)
    } else {
      guard let diverting = Passport.digits(claims["div"]?["tn"]?.stringValue) else {
        throw IdentityFailure(.claims, "div names no telephone number")
      }
      self.kind = .diversion(diverting)
    }
    guard let signature = Base64.decode(parts[2], .url), signature.count == ES256.signatureBytes else {
      throw IdentityFailure(.signature, "the signature is not R and S of 32 bytes each")
    }
    self.signature = signature
    signed = Array(field.token[..<parts[1].endIndex])
  }

  private static func object(_ part: Substring.UTF8View, _ name: String) throws(IdentityFailure) -> JSONValue {
    guard let bytes = Base64.decode(part, .url) else {
      throw IdentityFailure(.malformed, "the token's \(name) is no Base64 of URLs")
    }
    var limits = JSONReader.Limits(bytes: maximumPartBytes, depth: 8)
    limits.members = 32
    limits.elements = 64
    limits.values = 256
    guard let value = try? JSONReader.read(bytes, limits), value.objectValue != nil else {
      throw IdentityFailure(.malformed, "the token's \(name) is no JSON object that is read here")
    }
    return value
  }

  private static func text(_ value: JSONValue?, _ name: String) throws(IdentityFailure) -> String? {
    guard let value else { return nil }
    guard let text = value.stringValue else { throw IdentityFailure(.kind, "\(name) is \(value.kind)") }
    return text
  }

  /// A telephone number of a claim, as digits. RFC 8224 section 8.3 has digits alone; a `+` before them is passed over, for
  /// signers that write it.
  static func digits(_ text: String?) -> String? {
    guard let text else { return nil }
    let digits = text.utf8.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
    guard (1...maximumDigits).contains(digits.utf8.count), digits.utf8.allSatisfy(MessageCharacter.isDigit) else {
      return nil
    }
    return String(digits)
  }

  /// Most digits of a number: 15 (E.164), and room for what networks put before them.
  static let maximumDigits = 24
}
