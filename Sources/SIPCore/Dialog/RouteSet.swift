/// The way that requests of a dialog take (RFC 3261 sections 12.1 and 12.2.1.1).
package enum RouteSet {
  /// Most proxies in a route set, as many as the gate lets through in one message.
  package static let maximumRoutes = GateLimits.standard.routes

  /// Where a request of a dialog goes.
  package struct Destination: Hashable, Sendable {
    /// Request-URI.
    package let uri: SIPURI
    /// Route, top first.
    package let routes: [NameAddress]
    /// What RFC 3263 looks up.
    package let nextHop: SIPURI
  }

  /// Of the end that called: Record-Route of the response that made the dialog, from the bottom.
  package static func ofCaller(_ recordRoutes: [NameAddress]) -> [NameAddress] {
    recordRoutes.suffix(maximumRoutes).reversed()
  }

  /// Of the end that was called: Record-Route of the INVITE, from the top.
  package static func ofCallee(_ recordRoutes: [NameAddress]) -> [NameAddress] {
    Array(recordRoutes.prefix(maximumRoutes))
  }

  /// Puts a strict router, one without `lr`, into the Request-URI and the target behind the last route.
  package static func destination(target: SIPURI, routes: [NameAddress]) -> Destination {
    guard let first = routes.first else { return Destination(uri: target, routes: [], nextHop: target) }
    guard first.uri.parameters["lr"] == nil else {
      return Destination(uri: target, routes: routes, nextHop: first.uri)
    }
    var uri = first.uri
    // Neither may stand in a Request-URI (section 19.1.1).
    uri.headers = []
    uri.parameters.removeAll { $0.name == "method" }
    return Destination(uri: uri, routes: routes.dropFirst() + [NameAddress(target)], nextHop: uri)
  }
}
