/// What the calls of one row of the benchmark are.
enum MediaWorkload: String, CaseIterable, Sendable, Encodable {
  /// Full-band Opus over SRTP from the app, PCMU to the trunk.
  case transcode
  /// The same with an app that sends narrow band, as it is asked to.
  case transcodeNarrow
  /// Opus over SRTP to Opus over RTP.
  case passThrough
  /// SRTP to SRTP with other keys.
  case reencrypt
  /// PCMU both sides, unprotected.
  case relay

  /// A codec as the generator calls it.
  enum Codec: String, Sendable {
    case opus
    case narrow = "nb"
    case pcmu
    var isOpus: Bool { self != .pcmu }
  }

  /// SDES key material as descriptions write it.
  enum Keys {
    /// What the generator's app side protects with.
    static let app = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw"
    /// What the generator's trunk side protects with.
    static let trunk = "OTg3NjU0MzIxMDk4NzY1NDMyMTA5ODc2NTQzMjEw"
  }

  var app: Codec {
    switch self {
    case .transcode, .passThrough, .reencrypt: .opus
    case .transcodeNarrow: .narrow
    case .relay: .pcmu
    }
  }
  var trunk: Codec { self == .passThrough || self == .reencrypt ? .opus : .pcmu }
  var isTranscoded: Bool { app.isOpus != trunk.isOpus }
  var protectsApp: Bool { self != .relay }
  var protectsTrunk: Bool { self == .reencrypt }

  /// Socket style and work of the floor program.
  var floorArguments: [String] {
    switch self {
    case .transcode, .transcodeNarrow: ["tick5", "tc-celt0"]
    case .passThrough: ["tick5", "pass"]
    case .reencrypt: ["mmsg", "srtp2"]
    case .relay: ["mmsg", "relay"]
    }
  }
}
