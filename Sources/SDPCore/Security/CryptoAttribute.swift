import CallModel

/// One `crypto` attribute (RFC 4568 section 9.1) and whether it can be used.
public struct CryptoAttribute: Hashable, Sendable {
  /// Why a line is passed over. Another line of the same section may still be used.
  public enum SkipReason: String, Hashable, Sendable, CaseIterable {
    case tag = "the tag is not one to nine digits"
    case tagRepeated = "an earlier line has the same tag"
    case incomplete = "suite or key is missing"
    case suite = "the suite is unknown, or encrypts nothing"
    case keyMethod = "the key method is not inline"
    case severalKeys = "there is more than one key"
    case keyEncoding = "the key is not base64"
    case keyLength = "the key does not have the length of the suite"
    case lifetime = "the lifetime is not 1 to 2^48 packets"
    case identifier = "the master key identifier is not a number in 1 to 128 bytes"
    case keyParameter = "a key parameter is unknown"
    case sessionParameter = "a session parameter must be understood and is not"
    case tooMany = "there are too many lines"
  }

  /// Whether a line can be used: with its tag, suite and key, or why not.
  public enum Verdict: Hashable, Sendable {
    case usable(tag: Int, suite: CryptoSuite, key: SRTPMasterKey)
    case skipped(SkipReason)
  }

  /// Lines of one media section that are looked at.
  public static let maximumLines = 16

  /// As written; an answer repeats it letter by letter. `nil` when the line ends before it.
  public let suiteName: String?
  /// Lines that cannot be used are kept too, with their reason.
  public let verdict: Verdict

  /// Reads the value of the attribute. Never fails: the verdict says what is wrong.
  public init(_ text: String) {
    let fields = text.utf8.split(separator: 0x20, maxSplits: 34).map { Substring($0) }
    suiteName = fields.count > 1 ? String(fields[1]) : nil
    verdict = CryptoAttribute.verdict(fields)
  }

  private init(suiteName: String?, skipped reason: SkipReason) {
    self.suiteName = suiteName
    verdict = .skipped(reason)
  }

  /// The attributes of one section in order; a repeated tag and lines beyond ``maximumLines`` are passed over.
  static func list(_ values: some Sequence<String>) -> [CryptoAttribute] {
    var tags: Set<Int> = []
    return values.prefix(maximumLines + 1).enumerated().map { index, value in
      let attribute = CryptoAttribute(value)
      guard index < maximumLines else { return CryptoAttribute(suiteName: attribute.suiteName, skipped: .tooMany) }
      guard let tag = tag(of: value), !tags.insert(tag).inserted else { return attribute }
      return CryptoAttribute(suiteName: attribute.suiteName, skipped: .tagRepeated)
    }
  }

  private static func tag(of value: String) -> Int? {
    var words = value.utf8[...]
    return words.nextWord().flatMap { SessionDescriptionLine.number($0, upTo: 999_999_999) }
  }

  private static func verdict(_ fields: [Substring]) -> Verdict {
    guard let tag = fields.first.flatMap({ SessionDescriptionLine.number($0.utf8, upTo: 999_999_999) }) else {
      return .skipped(.tag)
    }
    guard fields.count >= 3 else { return .skipped(.incomplete) }
    guard let suite = CryptoSuite(name: String(fields[1])) else { return .skipped(.suite) }
    let keys = fields[2].split(separator: ";", omittingEmptySubsequences: false)
    guard keys.count == 1 else { return .skipped(.severalKeys) }
    let method = fields[2].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard method.count == 2, method[0].lowercased() == "inline" else { return .skipped(.keyMethod) }
    let session = fields.dropFirst(3)
    guard session.count <= 16, session.allSatisfy(isTolerable) else { return .skipped(.sessionParameter) }
    switch key(method[1], suite: suite) {
    case .success(let key): return .usable(tag: tag, suite: suite, key: key)
    case .failure(let failure): return .skipped(failure.reason)
    }
  }

  /// A window size is a hint and KDR=0 the default; a leading `-` marks what may be ignored (RFC 4568 section 6.3).
  private static func isTolerable(_ parameter: Substring) -> Bool {
    parameter.hasPrefix("-") || parameter == "KDR=0" || parameter.hasPrefix("WSH=")
  }

  private struct KeyFailure: Error {
    let reason: SkipReason
  }

  /// `key[|lifetime][|MKI:length]`.
  private static func key(_ text: Substring, suite: CryptoSuite) -> Result<SRTPMasterKey, KeyFailure> {
    let parts = text.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
    guard let bytes = Base64.decode(parts[0].utf8, padding: .optional, ignoresRest: true) else {
      return .failure(KeyFailure(reason: .keyEncoding))
    }
    guard bytes.count == suite.keyLength + suite.saltLength else { return .failure(KeyFailure(reason: .keyLength)) }
    var lifetime: UInt64?
    var identifier: SRTPMasterKey.Identifier?
    for part in parts.dropFirst() {
      if part.contains(":") {
        guard identifier == nil, let read = Self.identifier(part) else {
          return .failure(KeyFailure(reason: .identifier))
        }
        identifier = read
      } else {
        guard lifetime == nil, identifier == nil else { return .failure(KeyFailure(reason: .keyParameter)) }
        guard let read = Self.lifetime(part) else { return .failure(KeyFailure(reason: .lifetime)) }
        lifetime = read
      }
    }
    return .success(SRTPMasterKey(keyAndSalt: bytes, lifetime: lifetime, identifier: identifier))
  }

  /// `2^20`, or a plain number.
  private static func lifetime(_ text: Substring) -> UInt64? {
    if text.hasPrefix("2^") {
      return SessionDescriptionLine.number(text.dropFirst(2).utf8, upTo: 48).map { 1 << UInt64($0) }
    }
    guard SessionDescriptionLine.isDecimal(text.utf8, digits: 15), let packets = UInt64(text), packets > 0,
      packets <= SRTPMasterKey.maximumLifetime
    else { return nil }
    return packets
  }

  /// `1:32`: the value 1 in 32 bytes.
  private static func identifier(_ text: Substring) -> SRTPMasterKey.Identifier? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, SessionDescriptionLine.isDecimal(parts[0].utf8, digits: 20), let value = UInt64(parts[0]),
      let length = SessionDescriptionLine.number(parts[1].utf8, upTo: SRTPMasterKey.Identifier.lengths.upperBound),
      SRTPMasterKey.Identifier.lengths.contains(length), length >= 8 || value >> UInt64(length * 8) == 0
    else { return nil }
    let low = (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
    return SRTPMasterKey.Identifier(bytes: [UInt8](repeating: 0, count: max(length - 8, 0)) + low.suffix(length))
  }
}
