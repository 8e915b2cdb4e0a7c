import CallModel

/// A leg that we called and whose process died: what is needed to end it from another one. Its INVITE and, where it was
/// answered, the 2xx are kept as heads of messages (``head(of:)``).
public struct AbandonedLeg: Sendable {
  /// Bytes of a head that are kept; a longer one is not.
  public static let maximumHeadBytes = 16 * 1024
  /// Requests that the dead process may have sent in the dialog: ours are numbered above them (RFC 3261 section
  /// 12.2.2: a gap is allowed).
  static let sequenceGap: UInt32 = 10_000

  /// As it was kept: without credentials and without its body.
  public let invite: SIPMessage
  /// The first 2xx, as it was kept; `nil` where none was.
  public let answer: SIPMessage?
  /// Where the INVITE went, over a listener of today.
  public var path: SIPPath
  /// For a peer that challenges BYE.
  public var account: DigestAccount?

  /// - Parameters:
  ///   - invite: Head of the INVITE as it was sent, the last one where it was sent with credentials.
  ///   - answer: Head of the first 2xx to it.
  /// - Returns: `nil` where the heads are no INVITE and no 2xx to it.
  public init?(invite: [UInt8], answer: [UInt8]?, path: SIPPath, account: DigestAccount?) {
    func read(_ head: [UInt8]) -> SIPMessage? {
      guard case .success(let scanned) = SIPGate.admit(head, transport: path.remote.transport),
        case .success(let message) = MessageParser.values(of: scanned)
      else { return nil }
      return message
    }
    guard let request = read(invite), request.method == .invite, request.to.tag == nil, request.from.tag != nil,
      !request.vias.isEmpty
    else { return nil }
    if let answer {
      guard let response = read(answer), let status = response.status, (200..<300).contains(status),
        response.cseq.method == .invite, response.callID == request.callID, response.from.tag == request.from.tag
      else { return nil }
      self.answer = response
    } else {
      self.answer = nil
    }
    self.invite = request
    self.path = path
    self.account = account
  }

  /// What is kept of a message: its start line and its header fields but for credentials and those of the body.
  /// - Returns: `nil` where the bytes are no whole head within ``maximumHeadBytes``.
  public static func head(of message: [UInt8]) -> [UInt8]? {
    let lineFeed = UInt8(ascii: "\n")
    var kept: [UInt8] = []
    kept.reserveCapacity(min(message.count, 1024))
    var start = 0
    while start < message.count, start < maximumHeadBytes {
      guard let end = message[start...].firstIndex(of: lineFeed) else { return nil }
      let line = message[start...end]
      start = end + 1
      if line.count <= 2 {
        return kept + Array("Content-Length: 0\r\n\r\n".utf8)
      }
      if !isLeftOut(line) { kept += line }
    }
    return nil
  }

  private static let leftOut = ["authorization", "proxy-authorization", "content-length", "l", "content-type", "c"]

  private static func isLeftOut(_ line: ArraySlice<UInt8>) -> Bool {
    guard let colon = line.prefix(24).firstIndex(of: UInt8(ascii: ":")) else { return false }
    var name = line[..<colon]
    while let last = name.last, last == 0x20 || last == 0x09 { name.removeLast() }
    return leftOut.contains { known in
      known.utf8.count == name.count && zip(known.utf8, name).allSatisfy { $0 == $1 | 0x20 || $0 == $1 }
    }
  }
}

extension OutgoingRequest {
  /// The request that was sent in these words, for its CANCEL and its ACK.
  init?(sent message: SIPMessage) {
    guard case .request(let method, let uri) = message.startLine else { return nil }
    self.init(
      method, uri: uri, routes: message.routes, from: message.from, to: message.to, callID: message.callID,
      cseq: message.cseq.number, contact: message.contacts.first)
  }
}

extension OutgoingCall {
  /// As much of the call as its INVITE tells.
  init?(_ leg: AbandonedLeg) {
    guard case .request(_, let uri) = leg.invite.startLine else { return nil }
    self.init(
      target: uri, routes: leg.invite.routes.map(\.uri), paths: [leg.path],
      identity: OutgoingIdentity(from: leg.invite.from), offer: nil, account: leg.account,
      sessionTimer: SessionTimerPolicy(interval: nil), reliability: .off)
    callID = leg.invite.callID
  }
}
