/// A name inside the ledger: 1 to 64 letters, digits and `. _ - @ +`, starting with a letter or a digit.
///
/// The character set is what a journal for hledger or ledger-cli can carry unquoted, and has no path or SQL meaning.
public protocol LedgerName: Hashable, Sendable, Comparable, CustomStringConvertible, LosslessStringConvertible {
  static var kind: String { get }
  var text: String { get }
  init(unchecked text: String)
}

extension LedgerName {
  /// All of a name is ASCII, so bytes and characters are the same.
  public static var maximumBytes: Int { 64 }

  /// - Throws: ``InvalidValue`` with rules `name.empty`, `name.long`, `name.character`.
  public init(validating text: some StringProtocol) throws(InvalidValue) {
    let text = String(text)
    func refuse(_ rule: String, _ offset: Int?, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: Self.kind, rule: "name.\(rule)", offset: offset, problem: problem,
        accepted: "1 to \(Self.maximumBytes) letters, digits and . _ - @ +, starting with a letter or a digit")
    }
    guard !text.isEmpty else { throw refuse("empty", nil, "nothing is there") }
    guard text.utf8.count <= Self.maximumBytes else {
      throw refuse("long", Self.maximumBytes, "more than \(Self.maximumBytes) characters")
    }
    for (offset, byte) in text.utf8.enumerated() {
      let isAllowed =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: "+"): offset > 0
        default: false
        }
      guard isAllowed else {
        throw refuse("character", offset, "\(InvalidValue.name(of: byte)) cannot stand here")
      }
    }
    self.init(unchecked: text)
  }

  /// As ``init(validating:)``, but `nil` in place of an error.
  public init?(_ description: String) {
    guard let value = try? Self(validating: description) else { return nil }
    self = value
  }

  /// The ``text`` as it is, fit for a log or a journal.
  public var description: String { text }
  /// By the characters' codes, so all capital letters come before all small ones.
  public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}

/// The name of a customer's account. Unique in the ledger, never reused.
public struct AccountName: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "account name"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For a name known to be valid, such as one that the ledger hands back; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}

/// The identity of one call, chosen by the gateway; the same call keeps it through every retry.
public struct CallID: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "call id"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For an id known to be valid, such as one that the gateway made; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}

/// The identity of one recording of a call or a conference, chosen by the gateway.
public struct RecordingID: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "recording id"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For an id known to be valid, such as one that the gateway made; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}

/// The identity of one running gateway.
public struct NodeID: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "node name"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For a name known to be valid, such as one that the ledger hands back; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}

/// The key that makes a request repeatable: the same key with the same content gives the first answer again.
public struct RequestKey: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "key"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For a key known to be valid, such as one that the gateway made; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}

/// The name of a trunk as the carrier accounts know it.
public struct TrunkName: LedgerName {
  /// How a refusal calls the value, see ``InvalidValue/kind``.
  public static let kind = "trunk name"
  /// 1 to 64 ASCII characters.
  public let text: String
  /// For a name known to be valid, such as one that the ledger hands back; see ``init(validating:)``.
  public init(unchecked text: String) { self.text = text }
}
