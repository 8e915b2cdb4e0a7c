import CallModel
import LandlineConfiguration
import LandlineNode
import Logging
import SIPCore

/// What strangers wrote, on its way into a log.
enum LogDoors {
  static let all = [
    FuzzDoor("log-line", "message and values, a 0x1E between", dictionary: "log", maximumBytes: 8192, line),
    FuzzDoor("log-mask", "a text with numbers", dictionary: "log", maximumBytes: 2048, mask),
    FuzzDoor(
      "sip-call-id", "a message whose Call-ID is told to traces", dictionary: "sip", maximumBytes: 16_384, callID),
    FuzzDoor("configuration", "a YAML file", dictionary: "yaml", maximumBytes: 8192, configuration),
  ]

  /// One event is one line, of bounded length, and as JSON an object.
  private static func line(_ input: [UInt8]) throws(BrokenPromise) {
    let parts = input.split(separator: 0x1E, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    var metadata: Logger.Metadata = [:]
    for (index, part) in parts.dropFirst().prefix(80).enumerated() {
      switch index % 4 {
      case 0: metadata["key\(index)"] = .string(part)
      case 1: metadata[part] = .array([.string(part), .dictionary(["number": .string(part)])])
      case 2: metadata["user"] = .dictionary([part: .array([.array([.array([.string(part)])])])])
      default: metadata["from"] = .stringConvertible(part)
      }
    }
    let event = LogEvent(
      level: .info, message: "\(parts[0])", metadata: nil, source: nil, file: "", function: "", line: 0)
    for format in LogConfiguration.Format.allCases {
      for masks in [true, false] {
        let line = LogLine.bytes(
          event, label: parts.last ?? "", metadata: metadata, at: Instant(milliseconds: 0), format: format, masks: masks
        )
        try promise(line.last == 0x0A && !line.dropLast().contains { $0 < 0x20 || $0 == 0x7F }, "more than one line")
        // Six bytes for one at most, for the value that passes the bound as well.
        try promise(line.count <= LogLine.maximumLineBytes + 6 * 16_384, "a line of \(line.count) bytes")
        try promise(String(validating: line, as: UTF8.self) != nil, "a line that is no UTF-8")
        guard format == .json else { continue }
        // Keys of a mapping may repeat where they were cut, which a strict reader refuses.
        do {
          _ = try JSONReader.read(line, .own)
        } catch {
          guard case .duplicate = error.kind else {
            throw BrokenPromise(description: "\(error) in \(SIPDoors.text(line))")
          }
        }
      }
    }
  }

  /// No number after a plus stays whole, and what is masked stays as it is.
  private static func mask(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    for isNumber in [false, true] {
      let masked = LogMask.masked(text, isNumber: isNumber)
      try promise(masked.utf8.count <= 3 * text.utf8.count, "\(masked.utf8.count) bytes of \(text.utf8.count)")
      try promise(LogMask.masked(masked, isNumber: isNumber) == masked, "masked again it is another text")
      var run = 0
      var isCounted = false
      for byte in masked.utf8 {
        if byte >= 0x30, byte <= 0x39 {
          if isCounted { run += 1 }
          try promise(run < LogMask.minimumDigits, "a number stays in \(masked)")
        } else {
          isCounted = byte == UInt8(ascii: "+")
          run = 0
        }
      }
    }
  }

  private static func callID(_ input: [UInt8]) throws(BrokenPromise) {
    let agent = UserAgent(UserAgentConfiguration(addresses: []), identifiers: IdentifierSource { 1 })
    var effects: [UserAgentEffect] = []
    let found = agent.receive(input, from: SIPDoors.path(.udp), at: .zero, into: &effects).callID
    if let found { try promise(!found.isEmpty && !found.utf8.contains(0x0A), "a Call-ID of two lines") }
    guard let message = SIPDoors.parsed(input) else { return }
    try promise(found == message.callID, "\(found ?? "none") is found, \(message.callID) is read")
  }

  /// A file is read or refused with places in it, whatever it says.
  private static func configuration(_ input: [UInt8]) throws(BrokenPromise) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    let result = Result { () throws(ConfigurationProblems) in
      try GatewayConfiguration(text, file: "/nonexistent/landline.yaml")
    }
    switch result {
    case .success(let read):
      try promise(read.listeners.count <= GatewayConfiguration.maximumListeners, "\(read.listeners.count) listeners")
      try promise(read.trunks.count <= GatewayConfiguration.maximumTrunks, "\(read.trunks.count) trunks")
    case .failure(let refusal):
      try promise(!refusal.all.isEmpty, "refused without a reason")
      try promise(refusal.all.count <= ConfigurationProblems.maximum, "\(refusal.all.count) problems")
      // YAML ends lines in more ways than one.
      let lines = text.unicodeScalars.count + 2
      for problem in refusal.all {
        if let line = problem.line { try promise((0...lines).contains(line), "line \(line)") }
        _ = problem.description
      }
    }
  }
}
