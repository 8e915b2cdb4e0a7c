package import SecureTransport

/// Header extensions of RTP packets (RFC 8285 section 4): a block of elements behind the contributors, each with a number
/// that stands for what it is.
///
/// ```
///   0xBEDE | words │ number (4) length - 1 (4) | data │ … │ 0: padding      numbers 1 to 14
///   0x100_ | words │ number (8) length (8)     | data │ … │ 0: padding      numbers 1 to 255
/// ```
extension PacketBuffer {
  /// How loud the sound of an RTP packet is, as its sender says in a header extension (RFC 6464): in -dBov, from 0, the
  /// loudest, to 127. `nil`: it does not, or the block cannot be read up to there.
  /// - Parameter identifier: What stands for the extension.
  package func audioLevel(_ identifier: UInt8) -> UInt8? {
    guard let element = headerExtension(identifier), element.count == 1 else { return nil }
    // The highest bit says whether it is a voice; senders may leave that open.
    return self[element.lowerBound] & 0x7F
  }

  /// Where the data of an element stands.
  private func headerExtension(_ identifier: UInt8) -> Range<Int>? {
    guard count >= RTPHeader.size, self[0] & 0x10 != 0 else { return nil }
    var position = RTPHeader.size + Int(self[0] & 0x0F) * 4
    guard count >= position + 4 else { return nil }
    let form = integer(at: position, as: UInt16.self)
    let hasShortHeads = form == 0xBEDE
    guard hasShortHeads || form & 0xFFF0 == 0x1000 else { return nil }
    let end = position + 4 + Int(integer(at: position + 2, as: UInt16.self)) * 4
    guard end <= count else { return nil }
    position += 4
    while position < end {
      let head = self[position]
      position += 1
      guard head != 0 else { continue }
      let number: UInt8
      let length: Int
      if hasShortHeads {
        number = head >> 4
        length = Int(head & 0x0F) + 1
        // Padding has no length, and 15 is kept for later: what stands behind them is not to be read.
        guard number != 0, number != 15 else { return nil }
      } else {
        guard position < end else { return nil }
        number = head
        length = Int(self[position])
        position += 1
      }
      guard length <= end - position else { return nil }
      if number == identifier { return position..<(position + length) }
      position += length
    }
    return nil
  }
}
