/// One `m=` line and the lines below it (RFC 8866 section 5.14), as written. ``MediaSection`` reads its meaning.
public struct MediaDescription: Hashable, Sendable {
  /// `audio`, `video`, `image`, `application`, …
  public var kind: String
  /// 0 refuses the media (RFC 3264 section 6), or marks it as bundle-only.
  public var port: Int
  /// How many ports follow each other; `nil` when the line does not say.
  public var portCount: Int?
  /// Transport protocol: `RTP/AVP`, `UDP/TLS/RTP/SAVPF`, …
  public var profile: String
  /// For RTP: payload types in order of preference.
  public var formats: [String]
  /// `i=`, for people.
  public var information: String?
  /// `c=` lines of the section, of which the first counts; empty: the session's.
  public var connections: [ConnectionData]
  /// `b=` lines of the section.
  public var bandwidths: [Bandwidth]
  /// The obsolete `k=` line: kept, never used.
  public var key: String?
  /// `a=` lines of the section, in order.
  public var attributes: [SessionAttribute]

  /// Nothing is checked: limits hold for what is read.
  public init(
    kind: String, port: Int, portCount: Int? = nil, profile: String, formats: [String], information: String? = nil,
    connections: [ConnectionData] = [], bandwidths: [Bandwidth] = [], key: String? = nil,
    attributes: [SessionAttribute] = []
  ) {
    self.kind = kind
    self.port = port
    self.portCount = portCount
    self.profile = profile
    self.formats = formats
    self.information = information
    self.connections = connections
    self.bandwidths = bandwidths
    self.key = key
    self.attributes = attributes
  }
}
