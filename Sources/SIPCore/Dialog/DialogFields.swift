import CallModel

/// Header fields that requests and responses inside calls share.
enum DialogFields {
  static let sessionDescriptionType = "application/sdp"

  static func allow(transfer: Bool) -> [OutgoingField] {
    UserAgentCapabilities.allowField(allowsTransfer: transfer).map { [$0] } ?? []
  }

  static var supported: [OutgoingField] { UserAgentCapabilities.supportedField.map { [$0] } ?? [] }
  static var accept: [OutgoingField] { UserAgentCapabilities.acceptField.map { [$0] } ?? [] }

  static func retryAfter(_ seconds: Int) -> [OutgoingField] { OutgoingField.retryAfter(seconds).map { [$0] } ?? [] }

  /// Headers of the application; none where one of them cannot be sent: the message matters more than they do.
  static func custom(_ headers: CustomHeaders) -> [OutgoingField] { (try? OutgoingField.fields(of: headers)) ?? [] }

  /// A warning; 399 is the one without a meaning of its own.
  static func warning(_ text: String?, code: Int = 399, from address: NameAddress) -> [OutgoingField] {
    guard let text, let host = address.uri.host else { return [] }
    return OutgoingField.warning((300...399).contains(code) ? code : 399, agent: host, text: text)
  }

  static func credentials(_ authorization: DigestAuthorization?) -> [OutgoingField] {
    authorization.map { $0.fields.flatMap { field($0.scope.credentialsFieldName, $0.value) } } ?? []
  }

  /// None where the value cannot stand in a header: what would carry it goes without.
  static func field(_ name: String, _ value: String) -> [OutgoingField] {
    (try? OutgoingField(name, value)).map { [$0] } ?? []
  }
}

extension SIPMessage {
  /// What its Reason headers say.
  var reasons: [CallFailure.Reason] { ReasonHeader(fields: values("Reason")).reasons }

  var customHeaders: CustomHeaders { CustomHeaders(of: self) }

  /// Whether Supported or Require list an option.
  func supports(_ option: String) -> Bool {
    tokens("Supported")?.contains(option) == true || tokens("Require")?.contains(option) == true
  }

  /// The response to a request that requires what this node does not know (RFC 3261 section 8.2.2.3); `nil` where it
  /// requires nothing of the kind.
  var requirementRefusal: OutgoingResponse? {
    guard !values("Require").isEmpty else { return nil }
    guard let required = tokens("Require") else { return OutgoingResponse(400, phrase: "Bad Require") }
    let unknown = UserAgentCapabilities.unsupported(required)
    guard !unknown.isEmpty else { return nil }
    return OutgoingResponse(420, fields: DialogFields.field("Unsupported", TokenList(unknown).fieldValue))
  }

  /// The session description; `nil` where there is none.
  var sessionDescription: MessageBody? {
    body.flatMap { !$0.bytes.isEmpty && $0.isType(DialogFields.sessionDescriptionType) ? $0 : nil }
  }

  /// Why the body cannot be taken as a session description (RFC 3261 section 8.2.3); `nil` where it can, where there is
  /// none, or where its handling is optional.
  var bodyRefusal: OutgoingResponse? {
    guard let body, !body.bytes.isEmpty else { return nil }
    if let encoding = value("Content-Encoding"), encoding.lowercased() != "identity" {
      return OutgoingResponse(415, fields: DialogFields.field("Accept-Encoding", "identity"))
    }
    guard !body.isType(DialogFields.sessionDescriptionType),
      value("Content-Disposition")?.lowercased().contains("handling=optional") != true
    else { return nil }
    return OutgoingResponse(415, fields: DialogFields.field("Accept", DialogFields.sessionDescriptionType))
  }

  /// Why an answer with a session description is not what the sender of a request takes (RFC 3261 section 21.4.7): no
  /// Accept of his allows one. `nil` where none would be sent, without an Accept, which stands for one that does
  /// (section 20.1), and where one cannot be read.
  var acceptRefusal: OutgoingResponse? {
    let fields = values("Accept")
    guard !fields.isEmpty, method == .invite || sessionDescription != nil else { return nil }
    for field in fields {
      guard let allows = DialogFields.allowsSessionDescription(accept: field), !allows else { return nil }
    }
    return OutgoingResponse(406, fields: DialogFields.field("Accept", DialogFields.sessionDescriptionType))
  }
}

extension DialogFields {
  /// Whether a list of media ranges has one that holds `application/sdp` and is wanted at all; `nil` where it cannot be
  /// read.
  static func allowsSessionDescription(accept value: String) -> Bool? {
    var cursor = ValueCursor(Array(value.utf8))
    cursor.skipBlanks()
    if cursor.peek == nil { return false }
    var isAllowed = false
    repeat {
      cursor.skipBlanks()
      let type = cursor.run(while: MessageCharacter.isToken)
      guard !type.isEmpty, cursor.consume(UInt8(ascii: "/")) else { return nil }
      let subtype = cursor.run(while: MessageCharacter.isToken)
      guard !subtype.isEmpty else { return nil }
      var isWanted = true
      let reader = cursor
      let areWellFormed = cursor.parameters { name, value in
        guard let value, reader.equals(name, "q") else { return }
        isWanted = reader.bytes[value].contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
      }
      guard areWellFormed else { return nil }
      let holds =
        reader.equals(type, "application") && (reader.equals(subtype, "sdp") || reader.equals(subtype, "*"))
        || reader.equals(type, "*") && reader.equals(subtype, "*")
      if holds, isWanted { isAllowed = true }
    } while cursor.consume(MessageCharacter.comma)
    cursor.skipBlanks()
    return cursor.peek == nil ? isAllowed : nil
  }
}
