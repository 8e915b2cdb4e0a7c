public import CallModel

/// Option tags or methods between commas: Allow, Supported, Require, Unsupported, Proxy-Require.
public struct TokenList: Hashable, Sendable {
  /// Most tokens read.
  public static let maximumTokens = 64

  /// In order, as written.
  public let tokens: [String]

  /// Takes any number of any texts; only what is read is checked.
  public init(_ tokens: [String]) { self.tokens = tokens }

  /// Reads one field value; an empty one is an empty list (RFC 3261 section 20.37).
  /// - Throws: `InvalidValue` with rules `tokens.long`, `tokens.token`, `tokens.many`, `tokens.end`.
  public init(parsing text: some StringProtocol) throws(InvalidValue) {
    var reader = try FieldValueReader(
      text, kind: "list of tokens", rule: "tokens", accepted: "tokens between commas, such as 100rel, timer",
      maximumBytes: NameAddress.maximumBytes)
    var tokens: [String] = []
    reader.skipSpace()
    if !reader.isAtEnd {
      tokens.reserveCapacity(8)
      repeat {
        guard tokens.count < TokenList.maximumTokens else {
          throw reader.invalid("many", "more than \(TokenList.maximumTokens) tokens")
        }
        let token = reader.token()
        guard !token.isEmpty else { throw reader.invalid("token", "\(reader.nextName) stands where a token begins") }
        tokens.append(token)
      } while reader.consumeSeparator(",")
      reader.skipSpace()
      guard reader.isAtEnd else { throw reader.invalid("end", "\(reader.nextName) stands after a token") }
    }
    self.init(tokens)
  }

  /// All tokens of a message's fields of one name, in order.
  /// - Throws: As ``init(parsing:)``.
  public init(fields: some Sequence<String>) throws(InvalidValue) {
    var tokens: [String] = []
    for field in fields {
      tokens += try TokenList(parsing: field).tokens
      guard tokens.count <= TokenList.maximumTokens else {
        throw InvalidValue(
          kind: "list of tokens", rule: "tokens.many", offset: nil,
          problem: "more than \(TokenList.maximumTokens) tokens", accepted: "tokens between commas")
      }
    }
    self.init(tokens)
  }

  /// Whether a token is in the list; option tags in any case, methods as they are written.
  public func contains(_ token: String) -> Bool {
    tokens.contains { listed in
      listed.utf8.elementsEqual(token.utf8) { MessageCharacter.lowercase($0) == MessageCharacter.lowercase($1) }
    }
  }

  /// `100rel, timer`; empty for an empty list.
  public var fieldValue: String { tokens.joined(separator: ", ") }
}

extension SIPMessage {
  /// The option tags or methods of all fields of this name; `nil` where there is no such field or one cannot be read.
  public func tokens(_ name: String) -> TokenList? {
    let fields = values(name)
    return fields.isEmpty ? nil : try? TokenList(fields: fields)
  }
}
