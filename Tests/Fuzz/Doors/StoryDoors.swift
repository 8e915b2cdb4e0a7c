import CallModel
import CallStory

/// Traces of calls, and what is made of them for people and collectors.
enum StoryDoors {
  static let all = [
    FuzzDoor("call-trace", "the bytes of a kept trace", dictionary: "trace", maximumBytes: 16_384, trace),
    FuzzDoor("call-story", "the JSON of a story", dictionary: "trace", maximumBytes: 16_384, story),
    FuzzDoor("call-capture", "a trace that becomes a capture", dictionary: "trace", maximumBytes: 8192, capture),
    FuzzDoor("hep", "lines of values for a collector", dictionary: "trace", maximumBytes: 4096, hep),
  ]

  /// Whatever the bytes, the limits hold, and a story is told in bounded words.
  private static func trace(_ input: [UInt8]) throws(BrokenPromise) {
    guard let trace = try? CallTrace(input) else { return }
    try promise(trace.messages.count <= CallTrace.maximumMessages, "\(trace.messages.count) messages")
    try promise(trace.dialogs.count <= CallTrace.maximumDialogs, "\(trace.dialogs.count) dialogs")
    try promise(trace.notes.count <= CallTrace.maximumNotes, "\(trace.notes.count) notes")
    let again = try promised(try? CallTrace(trace.encoded()), "what was written is refused")
    try promise(again.encoded() == trace.encoded(), "another trace")
    let story = CallStory.tell(CallStorySources(trace: trace))
    let text = story.text(width: 80, isMasked: true)
    try promise(!text.utf8.contains { $0 < 0x20 && $0 != 0x0A || $0 == 0x7F }, "a control byte for a terminal")
    try promise(CallStory(json: story.json()) != nil, "a story that cannot be read")
  }

  private static func story(_ input: [UInt8]) throws(BrokenPromise) {
    guard let story = CallStory(json: input) else { return }
    let again = try promised(CallStory(json: story.json()), "what was written is refused")
    try promise(again == story, "another story")
    for width in [20, 120] {
      let text = story.text(width: width, isMasked: width == 20)
      try promise(!text.utf8.contains { $0 < 0x20 && $0 != 0x0A || $0 == 0x7F }, "a control byte for a terminal")
    }
  }

  /// Blocks follow each other to the end, each with its length at both ends.
  private static func capture(_ input: [UInt8]) throws(BrokenPromise) {
    let parts = input.split(separator: 0x1E, omittingEmptySubsequences: false)
    func text(_ index: Int) -> String { parts.count > index ? String(decoding: parts[index], as: UTF8.self) : "" }
    let first = Int64(input.first ?? 0)
    var trace = CallTrace(call: text(0), startedAt: first << 55 ^ Int64(input.count))
    trace.dialogs = [CallTrace.Dialog(sipCallID: text(1), side: .far, trunk: text(2))]
    for index in 3..<max(3, min(parts.count, 24)) {
      trace.messages.append(
        CallTrace.Message(
          at: Int64(index) << (first & 31), isSent: index % 2 == 0, dialog: index % 3 == 0 ? 0 : index,
          transport: ["udp", "tcp", "tls", text(4)][index % 4], local: text(index - 1), remote: text(index - 2),
          text: text(index), bytes: index * 100, isRepeated: index % 5 == 0))
      trace.notes.append(CallTrace.Note(at: Int64(index), kind: .ledger, text: text(index)))
    }
    let file = trace.capture()
    var position = 0
    while position < file.count {
      try promise(file.count - position >= 12, "half a block")
      let length = little(file, position + 4)
      try promise(length >= 12 && length % 4 == 0 && length <= file.count - position, "a block of \(length) bytes")
      try promise(little(file, position + length - 4) == length, "two lengths")
      position += length
    }
  }

  private static func little(_ bytes: [UInt8], _ offset: Int) -> Int {
    (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
  }

  /// A datagram that holds what was put into it, and no more.
  private static func hep(_ input: [UInt8]) throws(BrokenPromise) {
    let lines = input.split(separator: 0x0A, maxSplits: 6, omittingEmptySubsequences: false)
    func text(_ index: Int) -> String { lines.count > index ? String(decoding: lines[index], as: UTF8.self) : "" }
    let packet = HEP3Packet(
      HEP3Packet.Kind.allCases[input.count % 3], transport: text(0), source: text(1), destination: text(2),
      at: Int64(input.count) << Int64(input.first.map { $0 & 63 } ?? 0), agent: 7, password: text(3), node: text(4),
      correlationID: text(5), payload: Array(text(6).utf8))
    let bytes = packet.bytes
    try promise(bytes.count <= 65_507, "\(bytes.count) bytes in a datagram")
    try promise(bytes.starts(with: "HEP3".utf8) && big(bytes, 4) == bytes.count, "another length")
    var position = 6
    var chunks: [Int: ArraySlice<UInt8>] = [:]
    while position < bytes.count {
      try promise(bytes.count - position >= 6, "half a chunk")
      let length = big(bytes, position + 4)
      try promise(length >= 6 && length <= bytes.count - position, "a chunk of \(length) bytes")
      let isNew = chunks.updateValue(bytes[position + 6..<position + length], forKey: big(bytes, position + 2)) == nil
      try promise(isNew, "a chunk twice")
      position += length
    }
    try promise(chunks[15]?.elementsEqual(packet.payload.prefix(HEP3Packet.maximumPayloadBytes)) == true, "the payload")
    try promise(chunks[14].map { text(3).utf8.starts(with: $0) } == true, "the password")
    try promise((chunks[17] ?? []).count <= HEP3Packet.maximumNameBytes, "the correlation")
    try promise(chunks[11]?.first == packet.kind.rawValue, "the kind")
  }

  private static func big(_ bytes: [UInt8], _ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
}
