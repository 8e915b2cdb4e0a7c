package import Hummingbird

/// What a request brings besides itself: where it came from.
package struct RESTContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  /// Numeric address; `nil` on a socket of this machine's own.
  let peer: String?

  package init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    peer = source.channel.remoteAddress?.ipAddress
  }
}
