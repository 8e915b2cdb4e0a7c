import CallModel

/// Header fields that requests and responses inside calls share.
enum DialogFields {
  /// Option tags that a peer may require (RFC 3261 section 20.32).
  static let supportedOptions = ["timer", "100rel"]
  /// Media types of a session description.
  static let sessionDescriptionType = "application/sdp"

  static func allow(transfer: Bool) -> [OutgoingField] {
    let methods = "INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, PRACK, NOTIFY" + (transfer ? ", REFER" : "")
    return field("Allow", methods)
  }

  static var supported: [OutgoingField] { field("Supported", "timer, 100rel") }

  static func retryAfter(_ seconds: Int) -> [OutgoingField] { field("Retry-After", String(max(0, seconds))) }

  static func reasons(_ reasons: [CallFailure.Reason]) -> [OutgoingField] {
    ReasonHeader(reasons).fieldValue.map { field("Reason", $0) } ?? []
  }

  /// One warning of ours, code 399: its text is cut and cleaned.
  static func warning(_ text: String?) -> [OutgoingField] {
    guard let text else { return [] }
    var quoted = String.UnicodeScalarView()
    for scalar in CallFailure.shortened(text).unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
      quoted.append(scalar)
    }
    return field("Warning", "399 landline \"\(String(quoted))\"")
  }

  static func custom(_ headers: CustomHeaders) -> [OutgoingField] { headers.flatMap { field($0.name, $0.value) } }

  static func credentials(_ authorization: DigestAuthorization?) -> [OutgoingField] {
    authorization.map { $0.fields.flatMap { field($0.scope.credentialsFieldName, $0.value) } } ?? []
  }

  /// None where the value cannot stand in a header: what would carry it goes without.
  static func field(_ name: String, _ value: String) -> [OutgoingField] {
    (try? OutgoingField(name, value)).map { [$0] } ?? []
  }
}

extension SIPMessage {
  /// The custom headers of the message, as many as their budget holds; one that breaks a rule is left out.
  var customHeaders: CustomHeaders {
    var headers = CustomHeaders()
    for field in fields {
      var name = field.name.utf8.makeIterator()
      guard name.next().map(MessageCharacter.lowercase) == UInt8(ascii: "x"), name.next() == UInt8(ascii: "-") else {
        continue
      }
      try? headers.append(name: field.name, value: field.value)
    }
    return headers
  }

  /// What its Reason headers say.
  var reasons: [CallFailure.Reason] { ReasonHeader(fields: values("Reason")).reasons }

  /// The elements of a field whose values are lists of tokens: Allow, Supported, Require. In order, at most 64.
  func tokens(_ name: String) -> [String] {
    var tokens: [String] = []
    for value in values(name) {
      for part in value.utf8.split(separator: UInt8(ascii: ",")) {
        guard tokens.count < 64 else { return tokens }
        let token = part.drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 != 0x20 && $0 != 0x09 }
        if !token.isEmpty { tokens.append(String(Substring(token))) }
      }
    }
    return tokens
  }

  /// Options in Require that this node does not know, in lower case as option tags are compared.
  var unknownRequirements: [String] {
    tokens("Require").filter { !DialogFields.supportedOptions.contains($0.lowercased()) }
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
    let disposition = value("Content-Disposition")?.lowercased() ?? "session"
    if disposition.contains("handling=optional") { return nil }
    guard body.isType(DialogFields.sessionDescriptionType) else {
      return OutgoingResponse(415, fields: DialogFields.field("Accept", DialogFields.sessionDescriptionType))
    }
    return nil
  }
}
