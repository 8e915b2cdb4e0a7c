/// Blots secrets out of what is kept of a call: each letter becomes a star, so that lengths stay what they were.
///
/// It reads line by line, whatever stands in them: what is no proper message has its secrets blotted out as well.
enum TraceRedaction {
  private static let star = UInt8(ascii: "*")

  /// What stands in a Digest header besides secrets (RFC 7616 section 3.4). Whatever else is there is blotted out.
  private static let harmless: [[UInt8]] = [
    "username", "username*", "realm", "nonce", "uri", "algorithm", "opaque", "qop", "nc", "userhash", "domain", "stale",
    "charset", "nextnonce",
  ].map { Array($0.utf8) }

  /// Words in a field's name or before a value that say: a secret follows.
  private static let telling: [[UInt8]] = [
    "secret", "token", "credential", "password", "passwd", "signature", "apikey", "api-key", "api_key", "authorization",
    "cookie", "ice-pwd", "private-key", "private_key",
  ].map { Array($0.utf8) }

  /// By byte: whether a word of ``telling`` begins with this letter, in either case. Nearly all bytes are passed by with
  /// one look.
  private static let beginsTelling: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for word in telling {
      table[Int(word[0])] = true
      table[Int(word[0] & 0xDF)] = true
    }
    return table
  }()

  /// The word of ``telling`` with which a range begins; not for an empty one.
  private static func tellingWord(_ range: Range<Int>, in bytes: [UInt8]) -> [UInt8]? {
    guard beginsTelling[Int(bytes[range.lowerBound])] else { return nil }
    return telling.first { starts(range, with: $0, in: bytes) }
  }

  // MARK: Messages

  /// Secrets of a SIP message or a session description.
  static func blot(_ bytes: inout [UInt8]) {
    var start = 0
    var rule = Rule.none
    var hasKeys = false
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
      let line = start..<(end > start && bytes[end - 1] == 0x0D ? end - 1 : end)
      let isContinued = !line.isEmpty && (bytes[line.lowerBound] == 0x20 || bytes[line.lowerBound] == 0x09)
      if isContinued {
        if case .none = rule {} else { apply(rule, to: line, in: &bytes) }
      } else {
        rule = .none
        if hasKeys { blotKeys(line, in: &bytes) }
        if isDescriptionLine(line, in: bytes) {
          blotDescriptionLine(line, in: &bytes)
        } else if let colon = bytes[line].prefix(80).firstIndex(of: UInt8(ascii: ":")) {
          let name = trimmed(line.lowerBound..<colon, in: bytes)
          let value = colon + 1..<line.upperBound
          rule = Rule(name, in: bytes)
          apply(rule, to: value, in: &bytes)
          let isType = contentTypes.contains { isWord($0, name, in: bytes) }
          if isType, contains(dtmf, value, in: bytes) { hasKeys = true }
        }
      }
      blotAddresses(line, in: &bytes)
      start = end + 1
    }
  }

  private enum Rule {
    case none, digest, whole

    /// By the name of a field.
    init(_ name: Range<Int>, in bytes: [UInt8]) {
      if plain.contains(where: { isWord($0, name, in: bytes) }) {
        self = .none
      } else if credentials.contains(where: { isWord($0, name, in: bytes) }) {
        self = .digest
      } else if challenges.contains(where: { isWord($0, name, in: bytes) }) {
        self = .none
      } else {
        self = name.contains { tellingWord($0..<name.upperBound, in: bytes) != nil } ? .whole : .none
      }
    }
  }

  /// Names of fields that nearly every message has, and that hold no secret: they need no search for a telling word.
  private static let plain: [[UInt8]] = [
    "via", "from", "to", "call-id", "cseq", "contact", "max-forwards", "content-type", "content-length", "allow",
    "supported", "user-agent", "server", "route", "record-route",
  ].map { Array($0.utf8) }
  private static let credentials: [[UInt8]] = [
    "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info",
  ].map { Array($0.utf8) }
  private static let challenges: [[UInt8]] = ["www-authenticate", "proxy-authenticate"].map { Array($0.utf8) }
  private static let contentTypes: [[UInt8]] = ["content-type", "c"].map { Array($0.utf8) }
  private static let dtmf = Array("dtmf".utf8)

  private static func apply(_ rule: Rule, to range: Range<Int>, in bytes: inout [UInt8]) {
    switch rule {
    case .none: break
    case .whole: hide(trimmed(range, in: bytes), in: &bytes)
    case .digest: blotCredentials(range, in: &bytes)
    }
  }

  /// `Digest username="anna", response="…"`: the values of all parameters that are not known as harmless, and unknown
  /// words altogether. Of other schemes all but the scheme's name.
  private static func blotCredentials(_ range: Range<Int>, in bytes: inout [UInt8]) {
    let end = range.upperBound
    var position = trimmed(range, in: bytes).lowerBound
    var isFirst = true
    while position < end {
      if isBlank(bytes[position]) || bytes[position] == UInt8(ascii: ",") {
        position += 1
        continue
      }
      let word = position..<(bytes[position..<end].firstIndex { separators.contains($0) } ?? end)
      position = max(word.upperBound, position)
      while position < end, isBlank(bytes[position]) { position += 1 }
      let name = lowercased(word, in: bytes)
      let isNamed = position < end && bytes[position] == UInt8(ascii: "=") && !word.isEmpty
      if isNamed {
        position += 1
        while position < end, isBlank(bytes[position]) { position += 1 }
        let value = self.value(from: position, to: end, in: bytes)
        if !harmless.contains(name) {
          if !secret.contains(name) { hide(word, in: &bytes) }
          hide(value, in: &bytes)
        }
        position = value.upperBound
        if position < end, bytes[position] == UInt8(ascii: "\"") { position += 1 }
      } else if isFirst, !word.isEmpty {
        if name != digest { return hide(position..<end, in: &bytes) }
      } else {
        hide(word, in: &bytes)
        if word.isEmpty { position += 1 }
      }
      isFirst = false
    }
  }

  private static let digest = Array("digest".utf8)
  private static let secret: [[UInt8]] = ["response", "cnonce", "rspauth"].map { Array($0.utf8) }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static let separators: Set<UInt8> = Set(" \t,=\"".utf8)

  /// A value without its quotes; one that is not closed reaches to the end.
  private static func value(from start: Int, to end: Int, in bytes: [UInt8]) -> Range<Int> {
    guard start < end else { return end..<end }
    guard bytes[start] == UInt8(ascii: "\"") else {
      return start..<(bytes[start..<end].firstIndex { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") } ?? end)
    }
    var position = start + 1
    while position < end, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return start + 1..<min(position, end)
  }

  // MARK: Session descriptions

  private static func isDescriptionLine(_ line: Range<Int>, in bytes: [UInt8]) -> Bool {
    line.count >= 2 && bytes[line.lowerBound + 1] == UInt8(ascii: "=")
  }

  private static let keyManagement = Array("key-mgmt:".utf8)
  private static let password = Array("ice-pwd:".utf8)
  private static let crypto = Array("crypto:".utf8)
  private static let inline = Array("inline:".utf8)

  private static func blotDescriptionLine(_ line: Range<Int>, in bytes: inout [UInt8]) {
    let value = line.lowerBound + 2..<line.upperBound
    switch bytes[line.lowerBound] {
    case UInt8(ascii: "k"), UInt8(ascii: "K"):
      let colon = bytes[value].firstIndex(of: UInt8(ascii: ":"))
      hide((colon.map { $0 + 1 } ?? value.lowerBound)..<value.upperBound, in: &bytes)
    case UInt8(ascii: "a"), UInt8(ascii: "A"):
      if starts(value, with: password, in: bytes) {
        hide(value.lowerBound + password.count..<value.upperBound, in: &bytes)
      } else if starts(value, with: keyManagement, in: bytes) {
        let space = bytes[value].firstIndex(of: 0x20)
        hide((space ?? value.lowerBound + keyManagement.count)..<value.upperBound, in: &bytes)
      } else if starts(value, with: crypto, in: bytes) {
        var position = value.lowerBound
        while position < value.upperBound {
          guard starts(position..<value.upperBound, with: inline, in: bytes) else {
            position += 1
            continue
          }
          position += inline.count
          let rest = bytes[position..<value.upperBound]
          let end = rest.firstIndex { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: ";") || $0 == 0x20 }
          hide(position..<(end ?? value.upperBound), in: &bytes)
          position = end ?? value.upperBound
        }
      }
    default: break
    }
  }

  /// `Signal=5`, or a body that is the key alone.
  private static func blotKeys(_ line: Range<Int>, in bytes: inout [UInt8]) {
    guard !bytes[line].contains(UInt8(ascii: ":")) else { return }
    guard let equals = bytes[line].firstIndex(of: UInt8(ascii: "=")) else {
      return hide(trimmed(line, in: bytes), in: &bytes)
    }
    let name = trimmed(line.lowerBound..<equals, in: bytes)
    if lowercased(name, in: bytes) == Array("signal".utf8) {
      hide(trimmed(equals + 1..<line.upperBound, in: bytes), in: &bytes)
    }
  }

  // MARK: Addresses

  private static let schemes = [Array("sip:".utf8), Array("sips:".utf8)]

  /// `sip:anna:password@host`.
  private static func blotAddresses(_ line: Range<Int>, in bytes: inout [UInt8]) {
    guard bytes[line].contains(UInt8(ascii: "@")) else { return }
    var position = line.lowerBound
    while position < line.upperBound {
      let rest = position..<line.upperBound
      guard lowercased(bytes[position]) == UInt8(ascii: "s"),
        let scheme = schemes.first(where: { starts(rest, with: $0, in: bytes) })
      else {
        position += 1
        continue
      }
      let start = position + scheme.count
      let tail = bytes[start..<line.upperBound]
      let stop = tail.firstIndex { $0 == UInt8(ascii: "@") || addressEnds.contains($0) } ?? line.upperBound
      // Whatever address begins before that would end there as well: each byte is looked at once.
      position = stop
      guard stop < line.upperBound, bytes[stop] == UInt8(ascii: "@"),
        let colon = bytes[start..<stop].firstIndex(of: UInt8(ascii: ":"))
      else { continue }
      hide(colon + 1..<stop, in: &bytes)
    }
  }

  private static let addressEnds: Set<UInt8> = Set(" \t<>\"".utf8)

  // MARK: Words

  /// Secrets in the words of a line: `token=…`, `"secret": "…"`, `Bearer …`.
  /// - Parameter hidesKeys: whether a line of nothing but keys of a telephone is one.
  static func words(_ text: String, hidesKeys: Bool) -> String {
    var bytes = Array(text.utf8)
    if hidesKeys, bytes.allSatisfy(isKey) { hide(bytes.indices, in: &bytes) }
    var position = 0
    while position < bytes.count {
      if lowercased(bytes[position]) == bearer[0], starts(position..<bytes.count, with: bearer, in: bytes) {
        position += bearer.count
        let end = bytes[position...].firstIndex { ends.contains($0) } ?? bytes.count
        hide(position..<end, in: &bytes)
        position = end
      } else if let word = tellingWord(position..<bytes.count, in: bytes) {
        position += word.count
        if let value = valueAfterName(position, in: bytes) {
          hide(value, in: &bytes)
          position = value.upperBound
        }
      } else {
        position += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let bearer = Array("bearer ".utf8)
  private static let ends: Set<UInt8> = Set(" \t\r\n,;&\"'}])".utf8)

  private static let keys: Set<UInt8> = Set("0123456789ABCD*#, ".utf8)
  private static func isKey(_ byte: UInt8) -> Bool { keys.contains(byte) }

  /// The value of a name that goes on at `start`: after `=` or `:`, in quotes or not.
  private static func valueAfterName(_ start: Int, in bytes: [UInt8]) -> Range<Int>? {
    var position = start
    func skip(_ isSkipped: (UInt8) -> Bool) {
      while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
    }
    skip { isLetter($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    skip { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") || $0 == 0x20 }
    guard position < bytes.count, bytes[position] == UInt8(ascii: "=") || bytes[position] == UInt8(ascii: ":") else {
      return nil
    }
    position += 1
    skip { $0 == 0x20 }
    guard position < bytes.count else { return nil }
    let quote = bytes[position]
    if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      let first = position + 1
      return first..<(bytes[first...].firstIndex(of: quote) ?? bytes.count)
    }
    // `authorization: Digest …` goes on after the space.
    return position..<(bytes[position...].firstIndex { ends.contains($0) && $0 != 0x20 } ?? bytes.count)
  }

  /// At most so many bytes, cut between two characters.
  static func cut(_ text: String, to maximum: Int) -> String {
    guard text.utf8.count > maximum else { return text }
    var result = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      guard bytes <= maximum else { break }
      result.append(scalar)
    }
    return String(result)
  }

  // MARK: Bytes

  private static func hide(_ range: Range<Int>, in bytes: inout [UInt8]) {
    for index in range { bytes[index] = star }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func lowercased(_ range: Range<Int>, in bytes: [UInt8]) -> [UInt8] {
    bytes[range].map(lowercased)
  }

  private static func starts(_ range: Range<Int>, with word: [UInt8], in bytes: [UInt8]) -> Bool {
    guard range.count >= word.count else { return false }
    for index in word.indices where lowercased(bytes[range.lowerBound + index]) != word[index] { return false }
    return true
  }

  private static func isWord(_ word: [UInt8], _ range: Range<Int>, in bytes: [UInt8]) -> Bool {
    range.count == word.count && starts(range, with: word, in: bytes)
  }

  private static func contains(_ word: [UInt8], _ range: Range<Int>, in bytes: [UInt8]) -> Bool {
    holds(word, in: lowercased(range, in: bytes))
  }

  private static func holds(_ word: [UInt8], in bytes: [UInt8]) -> Bool {
    guard bytes.count >= word.count else { return false }
    return (0...bytes.count - word.count).contains { starts($0..<bytes.count, with: word, in: bytes) }
  }

  private static func trimmed(_ range: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
    var lower = range.lowerBound
    var upper = range.upperBound
    while lower < upper, bytes[lower] == 0x20 || bytes[lower] == 0x09 { lower += 1 }
    while upper > lower, bytes[upper - 1] == 0x20 || bytes[upper - 1] == 0x09 { upper -= 1 }
    return lower..<upper
  }
}
