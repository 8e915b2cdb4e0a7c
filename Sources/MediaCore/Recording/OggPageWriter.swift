/// Packets to pages of Ogg (RFC 3533) of one stream, each of which has whole packets alone.
struct OggPageWriter {
  /// What a page says of its place in the stream.
  enum Place: UInt8 {
    case within = 0
    case begin = 2
    case end = 4
  }

  /// Segments of a page at most.
  static let maximumSegments = 255

  let serial: UInt32
  private var number: UInt32
  private var lacing: [UInt8] = []
  private var body: [UInt8] = []
  /// Packets of the coming page.
  private(set) var count = 0

  init(serial: UInt32, number: UInt32 = 0) {
    self.serial = serial
    self.number = number
  }

  /// Adds a packet to the coming page. One for which there is no room is left out.
  mutating func append(_ packet: some Collection<UInt8>) {
    let segments = packet.count / 255 + 1
    guard lacing.count + segments <= OggPageWriter.maximumSegments else { return }
    lacing += repeatElement(255, count: segments - 1)
    lacing.append(UInt8(packet.count % 255))
    body += packet
    count += 1
  }

  /// The page with all packets since the last; `granule`: the time at its end.
  mutating func flush(granule: UInt64, _ place: Place = .within) -> [UInt8] {
    var page = Array("OggS".utf8) + [0, place.rawValue]
    page.reserveCapacity(27 + lacing.count + body.count)
    append(granule, to: &page)
    append(serial, to: &page)
    append(number, to: &page)
    append(UInt32(0), to: &page)
    page.append(UInt8(lacing.count))
    page += lacing
    page += body
    let sum = page.withUnsafeBytes { OggPage.checksum($0, 0..<$0.count) }
    for index in 0..<4 { page[22 + index] = UInt8(truncatingIfNeeded: sum >> UInt32(index * 8)) }
    number &+= 1
    lacing.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: true)
    count = 0
    return page
  }

  private func append<Value: FixedWidthInteger>(_ value: Value, to page: inout [UInt8]) {
    for index in 0..<(Value.bitWidth / 8) { page.append(UInt8(truncatingIfNeeded: value >> Value(index * 8))) }
  }
}
