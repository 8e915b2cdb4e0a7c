/// A pcapng file (draft-ietf-opsawg-pcapng) with one interface that packets begin at with their IP header.
struct PacketCapture {
  /// Bytes of one comment, and how many there are of one block.
  static let maximumCommentBytes = 4096
  static let maximumComments = 32

  private var file = CaptureBytes()
  var bytes: [UInt8] { file.bytes }

  private enum Option {
    static let end: UInt16 = 0
    static let comment: UInt16 = 1
    static let application: UInt16 = 4
    static let name: UInt16 = 2
    static let resolution: UInt16 = 9
    static let flags: UInt16 = 2
  }

  /// LINKTYPE_RAW.
  private static let rawLink: UInt16 = 101

  mutating func section(comments: [String]) {
    var body = CaptureBytes()
    body.little(UInt32(0x1A2B_3C4D))
    body.little(UInt16(1))
    body.little(UInt16(0))
    // The section's length is not said.
    body.little(UInt64.max)
    PacketCapture.add(comments, to: &body)
    PacketCapture.option(Option.application, Array("Landline".utf8), to: &body)
    PacketCapture.option(Option.end, [], to: &body)
    block(0x0A0D_0D0A, body.bytes)
  }

  mutating func interface() {
    var body = CaptureBytes()
    body.little(PacketCapture.rawLink)
    body.little(UInt16(0))
    body.little(UInt32(0))
    PacketCapture.option(Option.name, Array("landline".utf8), to: &body)
    // Microseconds.
    PacketCapture.option(Option.resolution, [6], to: &body)
    PacketCapture.option(Option.end, [], to: &body)
    block(1, body.bytes)
  }

  /// - Parameter at: Unix time in microseconds.
  mutating func packet(_ packet: [UInt8], at: UInt64, isSent: Bool, comments: [String]) {
    var body = CaptureBytes()
    body.little(UInt32(0))
    body.little(UInt32(truncatingIfNeeded: at >> 32))
    body.little(UInt32(truncatingIfNeeded: at))
    body.little(UInt32(packet.count))
    body.little(UInt32(packet.count))
    body.append(packet)
    body.pad(to: 4)
    PacketCapture.add(comments, to: &body)
    // Inbound is 1, outbound 2.
    PacketCapture.option(Option.flags, [isSent ? 2 : 1, 0, 0, 0], to: &body)
    PacketCapture.option(Option.end, [], to: &body)
    block(6, body.bytes)
  }

  private mutating func block(_ type: UInt32, _ body: [UInt8]) {
    // One packet of at most a message: far from four gigabytes.
    let length = UInt32(body.count + 12)
    file.little(type)
    file.little(length)
    file.append(body)
    file.little(length)
  }

  private static func add(_ comments: [String], to body: inout CaptureBytes) {
    for comment in comments.prefix(maximumComments) where !comment.isEmpty {
      option(Option.comment, Array(TraceRedaction.cut(comment, to: maximumCommentBytes).utf8), to: &body)
    }
    if comments.count > maximumComments {
      option(Option.comment, Array("\(comments.count - maximumComments) remarks more".utf8), to: &body)
    }
  }

  private static func option(_ code: UInt16, _ value: [UInt8], to body: inout CaptureBytes) {
    body.little(code)
    body.little(UInt16(value.count))
    body.append(value)
    body.pad(to: 4)
  }
}
