/// The header fields the gate looks into; every other one is `other`.
public enum HeaderKind: UInt8, Hashable, Sendable, CaseIterable {
  case other
  case via, from, to, callID, cseq, maxForwards, contentLength, contentType
  case contact, route, recordRoute, expires, minExpires, date, sessionExpires, minSE, event
  case referTo, referredBy, replyTo, assertedIdentity, preferredIdentity, remoteParty, diversion, historyInfo

  /// Whether a message may hold it once only.
  var isSingle: Bool {
    switch self {
    case .from, .to, .callID, .cseq, .maxForwards, .contentLength, .contentType, .expires, .minExpires, .date,
      .sessionExpires, .minSE, .event, .referTo, .referredBy:
      true
    default: false
    }
  }

  /// Whether a field of this kind may be given as text: the others the builder writes from typed values.
  var isFree: Bool {
    switch self {
    case .via, .from, .to, .callID, .cseq, .maxForwards, .contentLength, .contentType, .contact, .route, .recordRoute:
      false
    default: true
    }
  }

  /// Whether its value holds a URI that somebody will unescape.
  var holdsURI: Bool {
    switch self {
    case .from, .to, .contact, .route, .recordRoute, .referTo, .referredBy, .replyTo, .assertedIdentity,
      .preferredIdentity, .remoteParty, .diversion, .historyInfo:
      true
    default: false
    }
  }

  private static let names: [(String, HeaderKind)] = [
    ("via", .via), ("v", .via), ("from", .from), ("f", .from), ("to", .to), ("t", .to), ("call-id", .callID),
    ("i", .callID), ("cseq", .cseq), ("max-forwards", .maxForwards), ("content-length", .contentLength),
    ("l", .contentLength), ("content-type", .contentType), ("c", .contentType), ("contact", .contact),
    ("m", .contact), ("route", .route), ("record-route", .recordRoute), ("expires", .expires),
    ("min-expires", .minExpires), ("date", .date), ("session-expires", .sessionExpires), ("x", .sessionExpires),
    ("min-se", .minSE), ("event", .event), ("o", .event), ("refer-to", .referTo), ("r", .referTo),
    ("referred-by", .referredBy), ("b", .referredBy), ("reply-to", .replyTo),
    ("p-asserted-identity", .assertedIdentity), ("p-preferred-identity", .preferredIdentity),
    ("remote-party-id", .remoteParty), ("diversion", .diversion), ("history-info", .historyInfo),
  ]

  private struct Spelling {
    let name: [UInt8]
    let kind: HeaderKind
  }

  private static let spellings = names.map { Spelling(name: Array($0.0.utf8), kind: $0.1) }
  private static let longestSpelling = spellings.reduce(0) { max($0, $1.name.count) }
  /// The spellings by their length, so that a name is compared with a handful.
  private static let byLength: [[Spelling]] = (0...longestSpelling).map { length in
    spellings.filter { $0.name.count == length }
  }

  /// Reads a name in any case, long or compact (RFC 3261 section 7.3.3).
  init(_ name: some Collection<UInt8>) {
    let length = name.count
    let candidates = length <= HeaderKind.longestSpelling ? HeaderKind.byLength[length] : []
    let match = candidates.first { candidate in
      candidate.name.elementsEqual(name) { $0 == MessageCharacter.lowercase($1) }
    }
    self = match?.kind ?? .other
  }
}
