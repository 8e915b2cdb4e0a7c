/// What this user agent says of itself in Allow, Accept and Supported, in one place.
package enum UserAgentCapabilities {
  /// Allow, without what ``methods(allowsTransfer:)`` adds.
  package static let methods: [SIPMethod] = [
    .invite, .ack, .cancel, .bye, .options, .prack, .update, .info, .notify,
  ]
  /// Accept: bodies that are understood in some request (RFC 3261 section 20.1).
  package static let accept = [
    "application/sdp", "application/dtmf-relay", "application/dtmf", "message/sipfrag",
  ]
  /// Option tags that are understood.
  package static let supported = ["100rel", "timer"]

  package static func methods(allowsTransfer: Bool) -> [SIPMethod] { methods + (allowsTransfer ? [.refer] : []) }

  package static func allowField(allowsTransfer: Bool) -> OutgoingField? {
    allowsTransfer ? allowFieldWithTransfer : allowFieldWithoutTransfer
  }
  private static let allowFieldWithTransfer = field("Allow", methods(allowsTransfer: true).map(\.rawValue))
  private static let allowFieldWithoutTransfer = field("Allow", methods(allowsTransfer: false).map(\.rawValue))
  package static let acceptField = field("Accept", accept)
  package static let supportedField = field("Supported", supported)

  /// The Supported of one message; `nil` for an empty list.
  package static func supportedField(reliability: OutgoingCall.Reliability) -> OutgoingField? {
    reliability == .off ? field("Supported", supported.filter { $0 != "100rel" }) : supportedField
  }

  /// Option tags of Require that are not understood: the list of Unsupported in a 420 (RFC 3261 section 8.2.2.3).
  package static func unsupported(_ required: TokenList) -> [String] {
    required.tokens.filter { !TokenList(supported).contains($0) }
  }

  private static func field(_ name: String, _ values: [String]) -> OutgoingField? {
    try? OutgoingField(name, values.joined(separator: ", "))
  }
}
