/// The `type` of a message of an app.
enum ClientMessageType: String, CaseIterable {
  case register, resume, listen, call, alert, accept, decline, hangup, dtmf, offer, answer, mute, transfer,
    complete
  case takeBack = "take-back"
  case report, room, record, ping, bye
}

/// The `type` of a message of the gateway.
enum ServerMessageType: String, CaseIterable {
  case registered, resumed, placed, done, answer, error
  case incoming, progress, ringing, early, accepted, established, price, credit, digit, held, transfer, offer, quality,
    warning, members, speakers, recording, ended
  case pong, draining, turn, closing
}

/// Largest texts of the messages, in bytes.
enum MessageLimit {
  /// Largest whole number that every JSON reader keeps exact (RFC 8259 section 6): 2⁵³ − 1.
  static let integer: Int64 = 9_007_199_254_740_991
  static let identifier = 64
  static let user = 255
  static let target = 512
  static let client = 128
  /// A signature, token, credential or resumption token.
  static let secret = 2048
  static let description = 65_536
  static let headers = 64
  static let headerValue = 1024
  static let capabilities = 16
  static let features = 16
  /// What a device calls itself.
  static let name = 255
  static let figureName = 64
  static let text = 1024
  /// A second, a colon and a user.
  static let relayUser = 320
  static let relays = 16
  static let calls = 1024
  /// Of one conference, that left it at a time.
  static let participants = 1024
  /// The highest number of a participant.
  static let participant: Int64 = 0x7FFF_FFFF
}
