/// One `candidate` attribute (RFC 8839 section 5.1).
public struct ICECandidate: Hashable, Sendable {
  /// Bytes of the attribute's value; a longer one is no candidate.
  public static let maximumTextBytes = 512

  /// The same for candidates of one kind from one base (RFC 8445 section 5.1.1.3).
  public var foundation: String
  /// 1 for RTP, 2 for RTCP.
  public var component: Int
  /// `udp` or `tcp`, in any case as written.
  public var transport: String
  /// 1 to 2^31 - 1.
  public var priority: Int
  /// An address, a name, or a name of RFC 8828's `.local` kind.
  public var address: String
  /// 0 to 65535.
  public var port: Int
  /// `host`, `srflx`, `prflx` or `relay`.
  public var kind: String
  /// `raddr`, as written: the base of a reflexive or relayed candidate; `nil` when the line does not say.
  public var relatedAddress: String?
  /// `rport`, 0 to 65535; `nil` when the line does not say.
  public var relatedPort: Int?
  /// What follows, in order: `tcptype active generation 0`.
  public var extensions: String

  /// Nothing is checked; the defaults make a host candidate over UDP.
  public init(
    foundation: String, component: Int, transport: String = "udp", priority: Int, address: String, port: Int,
    kind: String = "host", relatedAddress: String? = nil, relatedPort: Int? = nil, extensions: String = ""
  ) {
    self.foundation = foundation
    self.component = component
    self.transport = transport
    self.priority = priority
    self.address = address
    self.port = port
    self.kind = kind
    self.relatedAddress = relatedAddress
    self.relatedPort = relatedPort
    self.extensions = extensions
  }

  /// Reads the value of the attribute; `nil` when it is not a candidate.
  init?(_ text: String) {
    guard text.utf8.count <= ICECandidate.maximumTextBytes else { return nil }
    let fields = text.split(separator: " ")
    guard fields.count >= 8, fields[6] == "typ",
      let component = SessionDescriptionLine.number(fields[1].utf8, upTo: 256), component > 0,
      SessionDescriptionLine.isDecimal(fields[3].utf8, digits: 10), let priority = Int(fields[3]),
      (1...0x7FFF_FFFF).contains(priority),
      let port = SessionDescriptionLine.number(fields[5].utf8, upTo: 65_535)
    else { return nil }
    var rest = fields[8...]
    var relatedAddress: String?
    var relatedPort: Int?
    if rest.count >= 2, rest.first == "raddr" {
      relatedAddress = String(rest[rest.startIndex + 1])
      rest = rest.dropFirst(2)
    }
    if rest.count >= 2, rest.first == "rport" {
      relatedPort = SessionDescriptionLine.number(rest[rest.startIndex + 1].utf8, upTo: 65_535)
      rest = rest.dropFirst(2)
    }
    self.init(
      foundation: String(fields[0]), component: component, transport: String(fields[2]), priority: priority,
      address: String(fields[4]), port: port, kind: String(fields[7]), relatedAddress: relatedAddress,
      relatedPort: relatedPort, extensions: rest.joined(separator: " "))
  }
}

extension ICECandidate: CustomStringConvertible {
  /// The value of the attribute.
  public var description: String {
    var text = "\(foundation) \(component) \(transport) \(priority) \(address) \(port) typ \(kind)"
    if let relatedAddress { text += " raddr \(relatedAddress)" }
    if let relatedPort { text += " rport \(relatedPort)" }
    return extensions.isEmpty ? text : text + " " + extensions
  }
}
