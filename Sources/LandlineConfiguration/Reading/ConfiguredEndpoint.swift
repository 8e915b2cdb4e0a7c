import CallModel
import SIPCore

/// `192.0.2.1:5060`, `[2001:db8::1]`: a numeric address of this machine.
struct NumericEndpoint {
  let host: SIPHost
  let port: UInt16

  /// - Parameter allowsAnyPort: whether port 0 may stand for any free one.
  init(_ text: String, defaultPort: UInt16, allowsAnyPort: Bool = false) throws(InvalidValue) {
    let isAnyPort = allowsAnyPort && text.hasSuffix(":0")
    let endpoint = try AdvertisedEndpoint(isAnyPort ? String(text.dropLast(2)) : text)
    if case .name = endpoint.host {
      throw InvalidValue(
        kind: "address", rule: "listener.bind", offset: nil, problem: "a name stands where an address must",
        accepted: "a numeric address of this machine, such as 192.0.2.1:5060 or [::]:5060")
    }
    host = endpoint.host
    port = isAnyPort ? 0 : endpoint.port ?? defaultPort
  }
}

/// `203.0.113.7`, `sip.example.com:5070`: what peers are told.
struct AdvertisedEndpoint {
  let host: SIPHost
  let port: UInt16?

  init(_ text: String) throws(InvalidValue) {
    let uri: SIPURI
    do {
      uri = try SIPURI(parsing: "sip:\(text)")
    } catch {
      throw AdvertisedEndpoint.refusal(error.problem)
    }
    guard let host = uri.host, uri.user == nil, uri.parameters.isEmpty, uri.headers.isEmpty else {
      throw AdvertisedEndpoint.refusal("it is no host with an optional port")
    }
    self.host = host
    port = uri.port
  }

  private static func refusal(_ problem: String) -> InvalidValue {
    InvalidValue(
      kind: "address", rule: "listener.address", offset: nil, problem: problem,
      accepted: "a host and a port from 1 to 65535, such as 203.0.113.7:5060, [2001:db8::1] or sip.example.com")
  }
}
