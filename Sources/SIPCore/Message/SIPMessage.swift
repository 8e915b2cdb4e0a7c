/// A message that passed the gate and the parser, as plain values. What the core and everything above it reads.
public struct SIPMessage: Sendable {
  /// Says whether the message is a request or a response. The phrase of a response may be empty.
  public enum StartLine: Hashable, Sendable {
    case request(SIPMethod, SIPURI)
    case response(status: Int, phrase: String)
  }

  /// A header field that has no place of its own below.
  public struct Field: Hashable, Sendable {
    /// As written, compact forms spelled out.
    public let name: String
    /// Without the white space around it; folds are spaces.
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The Request-URI in it has no header fields.
  public let startLine: StartLine
  /// Top first; at least one.
  public let vias: [Via]
  /// May lack a tag: a peer of RFC 2543 sends none.
  public let from: NameAddress
  /// Without a tag in a request that begins something.
  public let to: NameAddress
  /// Case-sensitive (RFC 3261 section 20.8).
  public let callID: String
  /// Equal in a request and its responses.
  public let cseq: CSeq
  /// Those with a sip, sips or tel URI; other schemes cannot be reached from here and are left out.
  public let contacts: [NameAddress]
  /// `Contact: *`, which a REGISTER may say to remove all bindings (RFC 3261 section 10.2.2).
  public let hasWildcardContact: Bool
  /// Top first.
  public let routes: [NameAddress]
  /// Top first.
  public let recordRoutes: [NameAddress]
  /// Every other field in the order of the message.
  public let fields: [Field]
  /// `nil` when empty; its type is the empty text where the message has no Content-Type.
  public let body: MessageBody?
  /// The bytes it was read from: what a response copies. `nil` for one that was made here.
  package let scanned: ScannedMessage?

  /// For a message made here: a response copies its values instead of the bytes that a peer wrote.
  public init(
    startLine: StartLine, vias: [Via], from: NameAddress, to: NameAddress, callID: String, cseq: CSeq,
    contacts: [NameAddress], routes: [NameAddress], recordRoutes: [NameAddress], fields: [Field], body: MessageBody?,
    hasWildcardContact: Bool = false
  ) {
    self.init(
      startLine: startLine, vias: vias, from: from, to: to, callID: callID, cseq: cseq, contacts: contacts,
      routes: routes, recordRoutes: recordRoutes, fields: fields, body: body, hasWildcardContact: hasWildcardContact,
      scanned: nil)
  }

  init(
    startLine: StartLine, vias: [Via], from: NameAddress, to: NameAddress, callID: String, cseq: CSeq,
    contacts: [NameAddress], routes: [NameAddress], recordRoutes: [NameAddress], fields: [Field], body: MessageBody?,
    hasWildcardContact: Bool, scanned: ScannedMessage?
  ) {
    self.startLine = startLine
    self.vias = vias
    self.from = from
    self.to = to
    self.callID = callID
    self.cseq = cseq
    self.contacts = contacts
    self.routes = routes
    self.recordRoutes = recordRoutes
    self.fields = fields
    self.body = body
    self.hasWildcardContact = hasWildcardContact
    self.scanned = scanned
  }

  /// The first value of a field, its name in any case.
  public func value(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

  /// All values of a field in order, one for each line, its name in any case.
  public func values(_ name: String) -> [String] {
    fields.compactMap { $0.isNamed(name) ? $0.value : nil }
  }

  /// `nil` for a response.
  public var method: SIPMethod? {
    if case .request(let method, _) = startLine { return method }
    return nil
  }

  /// `nil` for a request.
  public var status: Int? {
    if case .response(let status, _) = startLine { return status }
    return nil
  }
}

extension SIPMessage.Field {
  /// In any case.
  fileprivate func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && name.utf8.elementsEqual(other.utf8) { MessageCharacter.lowercase($0) == MessageCharacter.lowercase($1) }
  }
}
