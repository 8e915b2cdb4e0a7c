/// Whether a request comes from a page of the host that it was sent to. A browser tells it in fields that no page can set.
package enum PageOrigin {
  /// Enough for a request that a cookie proves: another site, and another port of this host, say something else.
  package static func isOwn(_ request: RESTRequest) -> Bool {
    if let site = request.header("sec-fetch-site") { return site == "same-origin" }
    guard let origin = request.header("origin"), let host = request.host else { return false }
    return ConnectRequest.isOrigin(origin, of: host)
  }

  /// Whether a development gateway may let the sender in without a key: somebody on this machine, and no page but ours.
  ///
  /// The host's name is looked at because a name of somebody else's can be made to lead here.
  package static func isLocal(_ request: RESTRequest) -> Bool {
    guard let peer = request.peer, isLoopback(peer), let host = request.host, isLoopbackName(host) else { return false }
    let sites = request.headers.filter { $0.name == "sec-fetch-site" }
    guard sites.allSatisfy({ $0.value == "same-origin" || $0.value == "none" }) else { return false }
    let origins = request.headers.filter { $0.name == "origin" }
    return origins.count <= 1 && origins.allSatisfy { ConnectRequest.isOrigin($0.value, of: host) }
  }

  /// - Parameter peer: a numeric address.
  package static func isLoopback(_ peer: String) -> Bool {
    peer == "::1" || (peer.hasPrefix("::ffff:") ? peer.dropFirst(7) : peer[...]).hasPrefix("127.")
  }

  /// - Parameter host: as in a `Host` field, with or without a port.
  package static func isLoopbackName(_ host: String) -> Bool {
    let text = host.lowercased()
    for name in ["localhost", "127.0.0.1", "[::1]"] where text.hasPrefix(name) {
      let rest = text.dropFirst(name.count)
      if rest.isEmpty { return true }
      let digits = rest.dropFirst()
      if rest.first == ":", (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
      {
        return true
      }
    }
    return false
  }
}
