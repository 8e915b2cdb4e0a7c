package import CallModel
package import SIPCore

/// A leg in the journal of dialogs, and its records there: a line of words, and behind it as many bytes as its last word
/// says.
/// ```
/// invite CALL-ID TRUNK MILLISECONDS TRANSPORT HOST PORT SERVER-NAME|- BYTES
/// answer CALL-ID BYTES
/// end CALL-ID 0
/// ```
package struct JournaledLeg: Hashable, Sendable {
  package var callID: String
  /// Of the configuration.
  package var trunk: String
  package var startedAt: Instant
  /// Where the last INVITE went.
  package var path: SIPPath?
  /// Head of the last INVITE; empty before it was sent.
  package var invite: [UInt8] = []
  /// Head of the first 2xx; empty before the answer.
  package var answer: [UInt8] = []

  /// Bytes of the line of words.
  static let maximumLineBytes = 1024

  package init(
    callID: String, trunk: String, startedAt: Instant, path: SIPPath? = nil, invite: [UInt8] = [],
    answer: [UInt8] = []
  ) {
    self.callID = callID
    self.trunk = trunk
    self.startedAt = startedAt
    self.path = path
    self.invite = invite
    self.answer = answer
  }

  package var inviteRecord: [UInt8] {
    guard let remote = path?.remote else { return [] }
    return record(
      "invite \(callID) \(trunk) \(startedAt.milliseconds) \(remote.transport.rawValue) \(remote.host.unbracketed) \(remote.port) "
        + (path?.serverName ?? "-"), invite)
  }

  package var answerRecord: [UInt8] { record("answer \(callID)", answer) }
  package var endRecord: [UInt8] { record("end \(callID)", []) }

  private func record(_ words: String, _ bytes: [UInt8]) -> [UInt8] {
    Array("\(words) \(bytes.count)\n".utf8) + bytes + [UInt8(ascii: "\n")]
  }

  /// What ends it over one of today's listeners.
  package func leg(over listeners: [AdvertisedAddress], account: DigestAccount?) -> AbandonedLeg? {
    guard var path else { return nil }
    let fitting = listeners.filter { $0.transport == path.remote.transport }
    guard let listener = fitting.first(where: { Self.isIPv6($0.host) == Self.isIPv6(path.remote.host) }) else {
      return nil
    }
    path.listener = listener.listener
    return AbandonedLeg(invite: invite, answer: answer.isEmpty ? nil : answer, path: path, account: account)
  }

  private static func isIPv6(_ host: SIPHost) -> Bool {
    if case .ipv6 = host { return true }
    return false
  }

  /// The legs that have no end, by SIP's Call-ID. What follows a record that cannot be read is dropped.
  package static func live(in journal: [UInt8]) -> [String: JournaledLeg] {
    var legs: [String: JournaledLeg] = [:]
    var start = 0
    while start < journal.count {
      let lineFeed = UInt8(ascii: "\n")
      guard let end = journal[start..<min(journal.count, start + maximumLineBytes)].firstIndex(of: lineFeed) else {
        return legs
      }
      let words = String(decoding: journal[start..<end], as: UTF8.self).split(separator: " ").map(String.init)
      guard words.count >= 3, let count = words.last.flatMap({ Int($0) }),
        (0...AbandonedLeg.maximumHeadBytes).contains(count),
        journal.count - (end + 1) > count, journal[end + 1 + count] == lineFeed
      else { return legs }
      let bytes = Array(journal[(end + 1)..<(end + 1 + count)])
      let callID = words[1]
      switch words[0] {
      case "invite" where words.count == 9:
        guard let milliseconds = Int64(words[3]), let transport = SIPTransport(rawValue: words[4]),
          let host = try? SIPHost(unbracketed: words[5]), let port = UInt16(words[6])
        else { return legs }
        legs[callID] = JournaledLeg(
          callID: callID, trunk: words[2], startedAt: Instant(milliseconds: milliseconds),
          path: SIPPath(
            listener: ListenerID(0), remote: TransportAddress(transport, host, port: port),
            serverName: words[7] == "-" ? nil : words[7]),
          invite: bytes)
      case "answer" where words.count == 3: legs[callID]?.answer = bytes
      case "end" where words.count == 3: legs[callID] = nil
      default: return legs
      }
      start = end + 2 + count
    }
    return legs
  }
}
