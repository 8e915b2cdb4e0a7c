/// Finds SIP's Call-ID in the bytes of a message without reading the rest: for traces, which must cost next to nothing.
package enum SIPCallIDScan {
  /// Bytes of a head that are looked at.
  static let maximumBytes = 16 * 1024
  /// RFC 3261 section 7.3.3: the short form.
  private static let names: [[UInt8]] = [Array("call-id".utf8), Array("i".utf8)]

  /// - Returns: `nil` where there is none before the end of the head.
  package static func callID(in message: [UInt8]) -> String? {
    message.withUnsafeBufferPointer { bytes in
      let end = min(bytes.count, maximumBytes)
      var start = 0
      // RFC 3261 section 7.5: empty lines may come before the first one.
      while start < end, isLineEnd(bytes[start]) { start += 1 }
      // The next empty line ends the head.
      while start < end, !isLineEnd(bytes[start]) {
        var stop = start
        // Section 7.3.1: a line that begins with a blank goes on with the one before.
        while stop < end, bytes[stop] != 0x0A || stop + 1 < end && isBlank(bytes[stop + 1]) { stop += 1 }
        if let value = value(bytes, start, stop) { return value }
        start = stop + 1
      }
      return nil
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A }

  private static func value(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ stop: Int) -> String? {
    for name in names where stop - start > name.count {
      var at = start
      while at - start < name.count, bytes[at] | 0x20 == name[at - start] || bytes[at] == name[at - start] { at += 1 }
      guard at - start == name.count else { continue }
      var end = stop
      func skip() { while at < end, isBlank(bytes[at]) || isLineEnd(bytes[at]) { at += 1 } }
      skip()
      guard at < end, bytes[at] == UInt8(ascii: ":") else { continue }
      at += 1
      skip()
      while end > at, isBlank(bytes[end - 1]) || isLineEnd(bytes[end - 1]) { end -= 1 }
      guard at < end, !bytes[at..<end].contains(where: isLineEnd) else { return nil }
      return String(decoding: bytes[at..<end], as: UTF8.self)
    }
    return nil
  }
}
