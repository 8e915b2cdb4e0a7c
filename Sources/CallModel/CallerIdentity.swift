/// Who calls, as the gateway knows it: one object from the door that a call came in by to the app that rings.
public struct CallerIdentity: Hashable, Sendable {
  /// What kind of caller it is. A kind of a newer gateway stays the word that it is.
  public struct Kind: RawRepresentable, Hashable, Sendable {
    /// The word of the protocol.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A user of the same application.
    public static let user = Kind(rawValue: "user")
    /// A telephone number.
    public static let phone = Kind(rawValue: "phone")
    /// A SIP address that is no telephone number.
    public static let sip = Kind(rawValue: "sip")
    /// A conference that its server calls somebody into.
    public static let conference = Kind(rawValue: "conference")
    /// A caller that withholds who it is.
    public static let anonymous = Kind(rawValue: "anonymous")
  }

  /// Who stands for it that the caller is who it says. A word of a newer gateway stays the word that it is.
  public struct Verification: RawRepresentable, Hashable, Sendable {
    /// The word of the protocol.
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Nobody: it is what the caller wrote.
    public static let none = Verification(rawValue: "none")
    /// The network of a trusted trunk (RFC 3325).
    public static let network = Verification(rawValue: "network")
    /// Signed: the provider knows the caller and its right to the number (RFC 8588 section 4).
    public static let full = Verification(rawValue: "A")
    /// Signed: the provider knows the caller, and not whether the number is its own.
    public static let partial = Verification(rawValue: "B")
    /// Signed: the provider knows where the call entered its network, and no more.
    public static let gateway = Verification(rawValue: "C")
    /// Signed, and the signature does not hold: see ``CallerIdentity/why``.
    public static let failed = Verification(rawValue: "failed")

    /// What is known of a signature, in words; `nil` where there is none.
    /// - Parameter why: as ``CallerIdentity/why``.
    public func words(_ why: String?) -> String? {
      switch self {
      case .full, .partial, .gateway: "holds, attested \(rawValue)"
      case .failed: "does not hold" + (why.map { ": \($0)" } ?? "")
      default: why.map { "not known: \($0)" }
      }
    }
  }

  /// Which rules ``value`` is read by.
  public var kind: Kind
  /// The user's id, the number in international form, or the address; empty for an anonymous caller.
  public var value: String
  /// What the caller calls itself; empty for none. Not verified.
  public var name: String
  /// Who stands for ``value``.
  public var verified: Verification
  /// Why a verification failed, or could not be made in time; `nil` for any other.
  public var why: String?
  /// The number or address that the call was diverted from, as a trusted network (RFC 5806, RFC 7044) or a signature
  /// (RFC 8946) says.
  public var divertedBy: String?

  /// By default nobody stands for it.
  public init(
    kind: Kind, value: String, name: String, verified: Verification = .none, why: String? = nil,
    divertedBy: String? = nil
  ) {
    self.kind = kind
    self.value = value
    self.name = name
    self.verified = verified
    self.why = why
    self.divertedBy = divertedBy
  }

  /// The caller's number; `nil` for a caller without one, or that withholds it.
  public var number: E164Number? { kind == .phone ? try? E164Number(value) : nil }
}
