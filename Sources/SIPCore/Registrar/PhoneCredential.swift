public import CallModel

/// A telephone that may register and call: what is kept of its password, and whose it is.
public struct PhoneCredential: Hashable, Sendable {
  /// The user name of its digests, and the user part of the address that it registers.
  public var name: String
  /// Telephones of one owner share ``RegistrarLimits/bindingsPerOwner``.
  public var owner: String
  /// What is kept in place of the password.
  public var keys: PhoneKeys

  public init(name: String, owner: String, keys: PhoneKeys) {
    self.name = name
    self.owner = owner
    self.keys = keys
  }
}

extension PhoneKeys {
  /// What is kept of a password.
  /// - Throws: ``InvalidValue`` with rule `phone.keys` where libcrypto does not offer SHA-256.
  public init(password: Redacted<String>, name: String) throws(InvalidValue) {
    func hash(_ algorithm: DigestAlgorithm) -> Redacted<String>? {
      DigestComputation.keyHash(
        algorithm, username: name, realm: PhoneKeys.realm, password: password, nonce: "", cnonce: "")
    }
    guard let sha256 = hash(.sha256) else {
      throw InvalidValue(
        kind: "password", rule: "phone.keys", offset: nil, problem: "SHA-256 cannot be computed on this machine",
        accepted: "a libcrypto that has it")
    }
    // A libcrypto of FIPS has no MD5: telephones that know nothing else cannot register there.
    self.init(sha256: sha256, md5: hash(.md5) ?? Redacted(""))
  }

  /// H(user:realm:password) in an algorithm that is challenged with; `nil` for any other.
  func hash(_ algorithm: DigestAlgorithm) -> Redacted<String>? {
    switch algorithm {
    case .sha256: sha256
    case .md5: md5.exposed.isEmpty ? nil : md5
    case .md5Session, .sha256Session, .sha512t256, .sha512t256Session: nil
    }
  }
}
