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
      while start < end, bytes[start] == 0x0D || bytes[start] == 0x0A { start += 1 }
      let head = start
      while start < end {
        var stop = start
        while stop < end, bytes[stop] != 0x0A { stop += 1 }
        var last = stop
        while last > start, bytes[last - 1] == 0x0D || bytes[last - 1] == 0x20 { last -= 1 }
        // An empty line ends the head.
        if last == start, start > head { return nil }
        if let value = value(bytes, start, last) { return value }
        start = stop + 1
      }
      return nil
    }
  }

  private static func value(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String? {
    for name in names where end - start > name.count {
      var at = start
      while at - start < name.count, bytes[at] | 0x20 == name[at - start] || bytes[at] == name[at - start] { at += 1 }
      guard at - start == name.count else { continue }
      while at < end, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
      guard at < end, bytes[at] == UInt8(ascii: ":") else { continue }
      at += 1
      while at < end, bytes[at] == 0x20 || bytes[at] == 0x09 { at += 1 }
      return at < end ? String(decoding: bytes[at..<end], as: UTF8.self) : nil
    }
    return nil
  }
}
