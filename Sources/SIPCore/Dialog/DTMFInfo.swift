/// A key press in an INFO: application/dtmf-relay (`Signal=5`, `Duration=160`) or application/dtmf (the digit alone).
/// No RFC defines either; both are read as most gear writes them.
package struct DTMFInfo: Hashable, Sendable {
  /// Most bytes of a body that is read.
  package static let maximumBytes = 256
  package static let durationRange = 40...8_000
  /// Where none was given.
  package static let usualDuration = 160

  package enum Reading: Hashable, Sendable {
    case key(DTMFInfo)
    /// 400.
    case malformed
    /// 415, with ``UserAgentCapabilities/accept``.
    case unsupportedMediaType
  }

  /// One of `0123456789*#ABCD`.
  package let key: Character
  /// Within ``durationRange``.
  package let durationMilliseconds: Int

  /// - Returns: `nil` for a character that is no key.
  package init?(key: Character, durationMilliseconds: Int = DTMFInfo.usualDuration) {
    guard let byte = key.asciiValue, let key = DTMFInfo.key([byte]) else { return nil }
    self.key = key
    self.durationMilliseconds = min(
      max(durationMilliseconds, DTMFInfo.durationRange.lowerBound), DTMFInfo.durationRange.upperBound)
  }

  package static func read(_ body: MessageBody?) -> Reading {
    guard let body else { return .malformed }
    let isRelay = body.isType("application/dtmf-relay")
    guard isRelay || body.isType("application/dtmf") else { return .unsupportedMediaType }
    guard body.bytes.count <= maximumBytes else { return .malformed }
    if !isRelay, let key = key(trimmed(body.bytes[...])) {
      return DTMFInfo(key: key).map(Reading.key) ?? .malformed
    }
    var pressed: Character?
    var duration = usualDuration
    for line in body.bytes.split(whereSeparator: { $0 == MessageCharacter.cr || $0 == MessageCharacter.lf }) {
      guard let separator = line.firstIndex(where: { $0 == MessageCharacter.equals || $0 == MessageCharacter.colon })
      else { continue }
      let name = trimmed(line[..<separator]).map(MessageCharacter.lowercase)
      let value = trimmed(line[(separator + 1)...])
      if name.elementsEqual("signal".utf8) {
        guard pressed == nil, let key = key(value) else { return .malformed }
        pressed = key
      } else if name.elementsEqual("duration".utf8) {
        // A nonsensical length leaves a press of the usual one.
        duration = FieldValueReader.number(String(decoding: value, as: UTF8.self), through: 1_000_000) ?? duration
      }
    }
    return pressed.flatMap { DTMFInfo(key: $0, durationMilliseconds: duration) }.map(Reading.key) ?? .malformed
  }

  /// As application/dtmf-relay.
  package var body: MessageBody {
    MessageBody(
      contentType: "application/dtmf-relay", bytes: Array("Signal=\(key)\r\nDuration=\(durationMilliseconds)\r\n".utf8))
  }

  /// The key of a digit, a letter, or an event number of RFC 4733 section 3.2 from 10 to 15, which some gear sends.
  private static func key(_ value: some Collection<UInt8>) -> Character? {
    switch String(decoding: value, as: UTF8.self).uppercased() {
    case "10": "*"
    case "11": "#"
    case "12": "A"
    case "13": "B"
    case "14": "C"
    case "15": "D"
    case let text where text.utf8.count == 1 && "0123456789*#ABCD".contains(text): text.first
    default: nil
    }
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == MessageCharacter.quote }
    let start = bytes.drop(while: isSpace)
    guard let end = start.lastIndex(where: { !isSpace($0) }) else { return [] }
    return start[...end]
  }
}
