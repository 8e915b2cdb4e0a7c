public import CallModel

/// The `rtcp` attribute (RFC 3605): where RTCP goes when it is not the next port.
public struct RTCPAddress: Hashable, Sendable {
  /// 0 to 65535.
  public let port: Int
  /// `nil`: the address of the media.
  public let connection: ConnectionData?

  /// Where packets can be sent, if the attribute says.
  public var unicastHost: SIPHost? { connection?.unicastHost }

  /// Reads `53020 IN IP6 2001:db8::1`; `nil` when it is not that.
  init?(_ text: String) {
    let fields = text.utf8.split(separator: 0x20, maxSplits: 4)
    guard let port = fields.first.flatMap({ SessionDescriptionLine.number($0, upTo: 65_535) }),
      fields.count == 1 || fields.count == 4
    else { return nil }
    self.port = port
    connection =
      fields.count == 4
      ? ConnectionData(
        networkType: String(Substring(fields[1])), addressType: String(Substring(fields[2])),
        address: String(Substring(fields[3]))) : nil
  }
}
