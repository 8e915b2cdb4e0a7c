import CallModel
package import SIPCore

/// Where a trunk is reached, for people.
package enum TrunkAddress {
  /// `sip:carrier.example:5060;transport=tcp`
  package static func text(_ uri: SIPURI) -> String {
    let user = uri.user.map { $0 + (uri.host == nil ? "" : "@") } ?? ""
    let port = uri.port.map { ":\($0)" } ?? ""
    let parameters = uri.parameters.map { ";" + $0.name + ($0.value.map { "=\($0)" } ?? "") }.joined()
    return "\(uri.scheme.rawValue):\(user)\(uri.host.map { "\($0)" } ?? "")\(port)\(parameters)"
  }
}
