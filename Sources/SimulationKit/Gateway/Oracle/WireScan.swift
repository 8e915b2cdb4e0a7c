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

  /// - Returns: `nil` for what is neither a request of `methods` nor a success response to INVITE.
  init?(_ bytes: [UInt8], methods: [String]) {
    let isResponse = bytes.starts(with: "SIP/2.0 ".utf8)
    guard isResponse ? bytes.count > 10 && bytes[8] == 0x32 : methods.contains(where: { bytes.starts(with: $0.utf8) })
    else { return nil }
    var start = 0
    var isFirst = true
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != 0x0D { end += 1 }
      if end == start { break }
      take(bytes[start..<end], isFirst: isFirst)
      isFirst = false
      start = end + 2
    }
    if isResponse, sequenceMethod != "INVITE" { return nil }
  }

  private mutating func take(_ line: ArraySlice<UInt8>, isFirst: Bool) {
    if isFirst {
      let words = String(decoding: line, as: UTF8.self).split(separator: " ")
      if words.first == "SIP/2.0" { status = words.count > 1 ? Int(words[1]) ?? 0 : 0 } else { method = String(words.first ?? "") }
      return
    }
    switch line.first {
    case UInt8(ascii: "C"):
      if let value = WireScan.value(line, "Call-ID: ") { callID = value }
      if let value = WireScan.value(line, "CSeq: ") {
        let words = value.split(separator: " ")
        sequence = String(words.first ?? "")
        sequenceMethod = String(words.last ?? "")
      }
    case UInt8(ascii: "F"): if let value = WireScan.value(line, "From: ") { fromTag = WireScan.parameter(value, ";tag=") }
    case UInt8(ascii: "T"): if let value = WireScan.value(line, "To: ") { toTag = WireScan.parameter(value, ";tag=") }
    case UInt8(ascii: "V"):
      if branch.isEmpty, let value = WireScan.value(line, "Via: ") { branch = WireScan.parameter(value, ";branch=") }
    default: break
    }
  }

  private static func value(_ line: ArraySlice<UInt8>, _ name: String) -> String? {
    line.starts(with: name.utf8) ? String(decoding: line.dropFirst(name.utf8.count), as: UTF8.self) : nil
  }

  private static func parameter(_ value: String, _ name: String) -> String {
    guard let range = value.firstRange(of: name) else { return "" }
    return String(value[range.upperBound...].prefix { $0 != ";" && $0 != ">" && $0 != "," })
  }
}
