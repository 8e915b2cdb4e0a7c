import CallModel

/// Where a response goes (RFC 3261 section 18.2.2, RFC 3581 section 4).
///
/// Only ever to the host that the request came from, or back on its connection: what the sender writes into Via chooses
/// the port at most. `maddr` is not followed, so that nobody can point responses at others or at a multicast group.
public enum ResponseRoute {
  /// - Parameters:
  ///   - via: The request's top Via, as it came.
  ///   - path: The way the request came.
  public static func path(for via: Via, receivedFrom path: SIPPath) -> SIPPath {
    let remote = path.remote
    // A stream that is gone is opened again to the host it came from, at the port where the sender listens.
    let port: UInt16
    if !remote.transport.isStream, via.parameters["rport"] != nil {
      port = remote.port
    } else {
      // Port 0 is nowhere: the gate refuses it, and a value made here says nothing with it.
      port = via.port.flatMap { $0 == 0 ? nil : $0 } ?? (remote.transport == .tls ? 5061 : 5060)
    }
    var result = path
    result.remote = TransportAddress(remote.transport, remote.host, port: port)
    return result
  }

  /// - Returns: `nil` for a message without Via.
  public static func path(for request: SIPMessage, receivedFrom path: SIPPath) -> SIPPath? {
    request.vias.first.map { ResponseRoute.path(for: $0, receivedFrom: path) }
  }
}
