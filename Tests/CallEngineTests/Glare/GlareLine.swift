import Foundation

/// What a datagram is, as read from its text alone: nothing of the product takes part.
struct GlareLine: Sendable {
  /// `nil` for a request.
  var status: Int?
  /// Of CSeq.
  var method = ""
  var sequence = 0
  var branch = ""
  var fromTag = ""
  var toTag = ""
  var hasBody = false

  var isRequest: Bool { status == nil }
  /// A transaction of its own.
  var transaction: String { "\(method) \(sequence) \(branch)" }

  init(_ bytes: [UInt8]) {
    var isFirst = true
    for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
      if isFirst {
        isFirst = false
        if line.starts(with: Array("SIP/2.0 ".utf8)) {
          status = Int(String(decoding: line.dropFirst(8).prefix(3), as: UTF8.self))
        }
        continue
      }
      guard line.count > 1, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { break }
      let value = line[(colon + 1)...]
      switch String(decoding: line[..<colon], as: UTF8.self) {
      case "CSeq":
        let words = GlareLine.text(value).split(separator: " ")
        sequence = words.first.flatMap { Int($0) } ?? 0
        method = words.last.map(String.init) ?? ""
      case "Via": if branch.isEmpty { branch = GlareLine.parameter("branch=", of: GlareLine.text(value)) }
      case "From": fromTag = GlareLine.parameter("tag=", of: GlareLine.text(value))
      case "To": toTag = GlareLine.parameter("tag=", of: GlareLine.text(value))
      case "Content-Length": hasBody = GlareLine.text(value) != "0"
      default: break
      }
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 13 }
    let head = bytes.drop(while: isSpace)
    return String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)
  }

  private static func parameter(_ name: String, of value: String) -> String {
    guard let part = value.split(separator: ";").dropFirst().first(where: { $0.hasPrefix(name) }) else { return "" }
    return String(part.dropFirst(name.count))
  }
}

/// The text of a message, for what a trunk does that the agent under test would never do.
enum GlareText {
  /// The value of a header field.
  static func value(_ name: String, in bytes: [UInt8]) -> String {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\r\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.count + 1).trimmingPrefix { $0 == " " }.description
    }
    return ""
  }

  static func removing(_ name: String, from bytes: [UInt8]) -> [UInt8] {
    lines(bytes) { $0.hasPrefix(name + ":") ? nil : $0 }
  }

  /// With a field after the start line.
  static func adding(_ field: String, to bytes: [UInt8]) -> [UInt8] {
    var isFirst = true
    return lines(bytes) {
      defer { isFirst = false }
      return isFirst ? $0 + "\r\n" + field : $0
    }
  }

  static func numbered(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    lines(bytes) { line in
      guard line.hasPrefix("CSeq:"), let method = line.split(separator: " ").last else { return line }
      return "CSeq: \(number) \(method)"
    }
  }

  private static func lines(_ bytes: [UInt8], _ change: (String) -> String?) -> [UInt8] {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.range(of: "\r\n\r\n") else { return bytes }
    let head = text[..<end.lowerBound].components(separatedBy: "\r\n").compactMap(change)
    return Array((head.joined(separator: "\r\n") + text[end.lowerBound...]).utf8)
  }
}
