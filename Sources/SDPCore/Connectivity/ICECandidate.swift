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
    var words = text.utf8[...]
    func number(upTo maximum: Int, digits: Int = 9) -> Int? {
      words.nextWord().flatMap { SessionDescriptionLine.number($0, upTo: maximum, digits: digits) }
    }
    func word() -> String? { words.nextWord().map { String(Substring($0)) } }
    /// The word behind `name`, where both come next.
    func word(after name: String) -> Substring.UTF8View? {
      var rest = words
      guard let first = rest.nextWord(), first.elementsEqual(name.utf8), let value = rest.nextWord() else { return nil }
      words = rest
      return value
    }
    guard let foundation = word(), let component = number(upTo: 256), component > 0, let transport = word(),
      let priority = number(upTo: 0x7FFF_FFFF, digits: 10), priority > 0, let address = word(),
      let port = number(upTo: 65_535), let kind = word(after: "typ")
    else { return nil }
    let relatedAddress = word(after: "raddr")
    let relatedPort = word(after: "rport")
    var extensions = ""
    extensions.reserveCapacity(words.count)
    while let word = words.nextWord() {
      if !extensions.isEmpty { extensions += " " }
      extensions += Substring(word)
    }
    self.init(
      foundation: foundation, component: component, transport: transport, priority: priority, address: address,
      port: port, kind: String(Substring(kind)), relatedAddress: relatedAddress.map { String(Substring($0)) },
      relatedPort: relatedPort.flatMap { SessionDescriptionLine.number($0, upTo: 65_535) }, extensions: extensions)
  }
}

extension ICECandidate: CustomStringConvertible {
  /// The value of the attribute.
  public var description: String {
    var words = [foundation, String(component), transport, String(priority), address, String(port), "typ", kind]
    if let relatedAddress { words += ["raddr", relatedAddress] }
    if let relatedPort { words += ["rport", String(relatedPort)] }
    if !extensions.isEmpty { words.append(extensions) }
    return words.joined(separator: " ")
  }
}
