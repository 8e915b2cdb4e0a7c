import Foundation

extension SIPpPeer {
  /// One message of a run, as SIPp's own trace has it.
  public struct Traced: Sendable {
    /// Seconds since 1970 by SIPp's clock.
    public let at: Double
    public let wasReceived: Bool
    public let message: PeerMessage
  }

  /// Every message, in the order of the trace.
  public var messages: [Traced] {
    transcript.components(separatedBy: String(repeating: "-", count: 47)).compactMap { Self.traced($0) }
  }

  /// The first message that was received or sent with this start of its first line.
  public func message(_ start: String, wasReceived: Bool) -> Traced? {
    messages.first { $0.wasReceived == wasReceived && $0.message.startLine.hasPrefix(start) }
  }

  /// ` 2026-11-22 01:46:21.780705`, `UDP message sent (503 bytes):`, an empty line, the message.
  private static func traced(_ record: String) -> Traced? {
    let parts = record.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let at = seconds(parts[0]) else { return nil }
    let text = parts[2].drop(while: \.isNewline).replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
    return Traced(at: at, wasReceived: parts[1].contains("received"), message: PeerMessage(Array(text.utf8)))
  }

  private static func seconds(_ text: Substring) -> Double? {
    let stamp = text.trimmingCharacters(in: .whitespaces).replacing("\t", with: " ").split(separator: " ")
    guard stamp.count >= 2, let point = stamp[1].firstIndex(of: "."), let fraction = Double("0" + stamp[1][point...])
    else { return nil }
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
    // SIPp writes the machine's own time.
    return formatter.date(from: "\(stamp[0]) \(stamp[1][..<point])").map { $0.timeIntervalSince1970 + fraction }
  }
}
