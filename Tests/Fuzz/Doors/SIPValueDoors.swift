import CallModel
import SIPCore

/// Values of header fields.
enum SIPValueDoors {
  static let all = [
    FuzzDoor("sip-uri", "a URI", dictionary: "sip", maximumBytes: 2500, uri),
    FuzzDoor("sip-address", "From, Contact, Route and the like", dictionary: "sip", maximumBytes: 4500, addresses),
    FuzzDoor("sip-via", "a Via element", dictionary: "sip", maximumBytes: 4500, via),
    FuzzDoor("sip-reason", "Reason", dictionary: "sip", maximumBytes: 2500, reason),
    FuzzDoor("sip-warning", "Warning", dictionary: "sip", maximumBytes: 2500, warning),
    FuzzDoor("sip-retry-after", "Retry-After", dictionary: "sip", maximumBytes: 1500, retryAfter),
    FuzzDoor("sip-refer-to", "Refer-To and what it replaces", dictionary: "sip", maximumBytes: 4500, referTo),
    FuzzDoor("sip-fragment", "the status line in a NOTIFY", dictionary: "sip", maximumBytes: 1024, fragment),
    FuzzDoor("sip-dtmf", "a key in an INFO", dictionary: "sip", maximumBytes: 400, dtmf),
    FuzzDoor("sip-number", "how a trunk writes numbers, then one", dictionary: "sip", maximumBytes: 400, number),
  ]

  /// What is read as a number is one, and is the same in its own international form.
  private static func number(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first else { return }
    let format = first % 2 == 0 ? InboundNumberFormat.international : .national(countryCode: Int(first))
    guard let number = format.number(String(decoding: input.dropFirst(), as: UTF8.self)) else { return }
    let text = number.description
    try promise((try? E164Number(text)) == number, "\(text) is no number")
    for again in [format, .international] {
      try promise(again.number(text) == number, "\(text) is another number the second time")
    }
    try promise(
      InboundNumberFormat.international.number(number.digits) == number, "\(text) without + is another number")
  }

  private static func uri(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let uri = try? SIPURI(parsing: text) else { return }
    try promise(uri.isEquivalent(to: uri), "not equivalent to itself")
    guard let written = try? uri.encoded() else { return }
    // Written, what had to be escaped and was not is escaped: the same URI in other words.
    let again = (try? SIPURI(parsing: written)).flatMap { try? $0.encoded() }
    try promise(again == written, "\(written) is not what was read")
    try promise(!written.utf8.contains { $0 < 0x21 || $0 == 0x7F }, "a blank or control byte in \(written)")
  }

  private static func addresses(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let list = try? NameAddress.list(parsing: text) else {
      try promise((try? NameAddress(parsing: text)) == nil, "one address, but no list")
      return
    }
    try promise(list.count <= NameAddress.maximumAddresses, "\(list.count) addresses")
    for address in list {
      guard let written = try? address.encoded() else { continue }
      // Written, a letter outside ASCII is escaped: the same address in other words.
      let again = (try? NameAddress(parsing: written)).flatMap { try? $0.encoded() }
      try promise(again == written, "\(written) is not what was read")
    }
  }

  private static func via(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let via = try? Via(parsing: text) else { return }
    let request = OutgoingRequest(
      .options, uri: SIPDoors.own, from: NameAddress(SIPDoors.own, parameters: [SIPParameter("tag", "1")]),
      to: NameAddress(SIPDoors.own), callID: "1", cseq: 1)
    guard let written = try? request.encoded(via: via) else { return }
    let message = try promised(SIPDoors.parsed(written), "the request is refused: \(SIPDoors.text(written))")
    try promise(message.vias == [via], "\(message.vias) for \(via)")
    let path = ResponseRoute.path(for: via, receivedFrom: SIPDoors.path(.udp))
    try promise(path.remote.host == SIPDoors.host && path.remote.port != 0, "an answer would go to another host")
  }

  // MARK: Why

  private static func reason(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    let lenient = ReasonHeader(fields: [text])
    try promise(lenient.reasons.count <= ReasonHeader.maximumReasons, "\(lenient.reasons.count) reasons")
    guard let header = try? ReasonHeader(parsing: text) else { return }
    try promise(header.reasons == lenient.reasons, "two readings")
    for field in OutgoingField.reason(header.reasons) {
      let again = try promised(try? ReasonHeader(parsing: field.value), "\(field.value) is refused")
      try promise(again.reasons.map(\.cause) == header.reasons.map(\.cause), "other causes in \(field.value)")
      try promise(
        again.reasons.map { $0.protocolName.lowercased() } == header.reasons.map { $0.protocolName.lowercased() },
        "other protocols in \(field.value)")
    }
  }

  private static func warning(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    let lenient = WarningHeader(fields: [text])
    try promise(lenient.values.count <= WarningHeader.maximumValues, "\(lenient.values.count) warnings")
    if let header = try? WarningHeader(parsing: text) { try promise(header == lenient, "two readings") }
    for value in lenient.values {
      try promise(value.text.utf8.count <= CallFailure.maximumTextBytes, "a text of \(value.text.utf8.count) bytes")
      for field in OutgoingField.warning(399, agent: SIPDoors.host, text: value.text) {
        try promise((try? WarningHeader(parsing: field.value))?.values.count == 1, "\(field.value) is refused")
      }
    }
  }

  private static func retryAfter(_ input: [UInt8]) throws(BrokenPromise) {
    guard let header = try? RetryAfter(parsing: String(decoding: input, as: UTF8.self)) else { return }
    try promise((0...RetryAfter.maximumSeconds).contains(header.seconds), "\(header.seconds) seconds")
    if let duration = header.durationSeconds {
      try promise((0...RetryAfter.maximumSeconds).contains(duration), "\(duration) seconds")
    }
    if let comment = header.comment {
      try promise(comment.utf8.count <= CallFailure.maximumTextBytes, "\(comment.utf8.count) bytes of comment")
    }
    if let field = OutgoingField.retryAfter(header.seconds) {
      try promise((try? RetryAfter(parsing: field.value))?.seconds == header.seconds, "other seconds")
    }
  }

  // MARK: Within a call

  private static func referTo(_ input: [UInt8]) throws(BrokenPromise) {
    guard let target = try? TransferTarget(parsing: String(decoding: input, as: UTF8.self)) else { return }
    try promise(target.address.uri.headers.isEmpty, "header fields stay in a Request-URI")
    try promise(target.address.uri.parameters["method"] == nil, "a method stays in a Request-URI")
    if let replaces = target.replaces {
      try promise(!replaces.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control byte in Replaces")
    }
  }

  private static func fragment(_ input: [UInt8]) throws(BrokenPromise) {
    guard let fragment = StatusFragment(MessageBody(contentType: "message/sipfrag", bytes: input)) else { return }
    try promise((100...699).contains(fragment.status), "status \(fragment.status)")
    let again = try promised(StatusFragment(fragment.body), "what was written is refused")
    try promise(again.status == fragment.status, "another status")
  }

  private static func dtmf(_ input: [UInt8]) throws(BrokenPromise) {
    for type in ["application/dtmf-relay", "application/dtmf"] {
      guard case .key(let info) = DTMFInfo.read(MessageBody(contentType: type, bytes: input)) else { continue }
      try promise(DTMFInfo.durationRange.contains(info.durationMilliseconds), "\(info.durationMilliseconds) ms")
      try promise(DTMFInfo.read(info.body) == .key(info), "another key")
    }
  }
}
