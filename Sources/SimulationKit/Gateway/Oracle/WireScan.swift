/// The few fields of a SIP message that tell one dialog's end from another's, read without building the message.
struct WireScan {
  private(set) var method = ""
  private(set) var status = 0
  private(set) var callID = ""
  private(set) var fromTag = ""
  private(set) var toTag = ""
  private(set) var branch = ""
  private(set) var sequence = ""
  private(set) var sequenceMethod = ""

  /// - Returns: `nil` for what is neither a request of `methods`, nor a response to INVITE below 300, nor a 481.
  init?(_ bytes: [UInt8], methods: [String]) {
    let isResponse = bytes.starts(with: "SIP/2.0 ".utf8)
    guard
      isResponse
        ? bytes.count > 11 && (bytes[8] <= 0x32 || WireScan.isUnknown(bytes))
        : methods.contains(where: { bytes.starts(with: $0.utf8) })
    else { return nil }
    let isWanted = bytes.withUnsafeBytes { buffer in
      if isResponse {
        status = (8..<11).reduce(0) { 10 * $0 + Int(buffer[$1] &- 0x30) }
      } else {
        method = WireScan.text(buffer.prefix { $0 != 0x20 })
      }
      var start = 0
      while start < buffer.count {
        var end = start
        while end < buffer.count, buffer[end] != 0x0D { end += 1 }
        if end == start { break }
        if start > 0 { read(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) }
        start = end + 2
      }
      return !isResponse || sequenceMethod == "INVITE" || status == 481
    }
    if !isWanted { return nil }
  }

  /// Whether the bytes are a success response to INVITE, so that the rest is worth reading.
  static func isSuccess(_ bytes: [UInt8]) -> Bool {
    bytes.count > 11 && bytes[0] == 0x53 && bytes[8] == 0x32 && bytes.starts(with: "SIP/2.0 2".utf8)
  }

  /// A response that begins with "SIP/2.0 481".
  private static func isUnknown(_ bytes: [UInt8]) -> Bool { bytes[8] == 0x34 && bytes[9] == 0x38 && bytes[10] == 0x31 }

  private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  private mutating func read(_ line: UnsafeRawBufferPointer) {
    switch line[0] {
    case UInt8(ascii: "C"):
      if let value = WireScan.value(line, "Call-ID: ") { callID = WireScan.text(value) }
      if let value = WireScan.value(line, "CSeq: ") {
        sequence = WireScan.text(value.prefix { $0 != 0x20 })
        sequenceMethod = WireScan.text(value.dropFirst(sequence.utf8.count + 1))
      }
    case UInt8(ascii: "F"):
      if let value = WireScan.value(line, "From: ") { fromTag = WireScan.parameter(value, ";tag=") }
    case UInt8(ascii: "T"): if let value = WireScan.value(line, "To: ") { toTag = WireScan.parameter(value, ";tag=") }
    case UInt8(ascii: "V"):
      if branch.isEmpty, let value = WireScan.value(line, "Via: ") { branch = WireScan.parameter(value, ";branch=") }
    default: break
    }
  }

  private static func value(_ line: UnsafeRawBufferPointer, _ name: StaticString) -> Slice<UnsafeRawBufferPointer>? {
    let length = name.utf8CodeUnitCount
    guard line.count >= length, (0..<length).allSatisfy({ line[$0] == name.utf8Start[$0] }) else { return nil }
    return line[length...]
  }

  private static func parameter(_ value: Slice<UnsafeRawBufferPointer>, _ name: StaticString) -> String {
    let length = name.utf8CodeUnitCount
    var index = value.startIndex
    while index + length <= value.endIndex {
      if value[index] == 0x3B, (0..<length).allSatisfy({ value[index + $0] == name.utf8Start[$0] }) {
        return text(value[(index + length)...].prefix { $0 != 0x3B && $0 != 0x3E && $0 != 0x2C })
      }
      index += 1
    }
    return ""
  }
}
