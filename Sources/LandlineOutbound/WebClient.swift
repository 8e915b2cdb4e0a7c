public import CallModel
public import LandlineResolver
import NIOCore
import NIOHTTP1
import NIOSSL
import SIPCore
import Synchronization

import class NIOPosix.MultiThreadedEventLoopGroup

/// Fetches what others name: over TLS alone, through a gate of addresses, within a time and a size, without redirects.
///
/// A name is resolved here, each of its addresses is looked at, and the connection goes to one of these: who answers for a
/// name cannot lead inside. It has a thread of its own from the first fetch on, since to read certificates of authorities
/// takes milliseconds.
public final class WebClient: Sendable {
  /// Most fetches at a time.
  public static let maximumFetches = 128
  /// Most sets of authorities that stand ready.
  static let maximumTrusts = 16

  /// What came of an address.
  public typealias Answer = WebAnswer
  /// Why nothing came.
  public typealias Problem = WebProblem

  private struct State {
    var group: MultiThreadedEventLoopGroup?
    var isShutDown = false
    var fetches = 0
    var trusts: [[[UInt8]]?: NIOSSLContext] = [:]
  }

  private let resolver: Resolver?
  private let userAgent: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - resolver: `nil` to reach numeric addresses only; who made it shuts it down.
  ///   - userAgent: Sent with each request.
  public init(resolver: Resolver?, userAgent: String) {
    self.resolver = resolver
    self.userAgent = userAgent
  }

  /// Gets what an address holds.
  /// - Parameters:
  ///   - maximumBytes: Of its body.
  ///   - milliseconds: For all of it: name, connection, handshake and answer.
  ///   - completion: Called once, on a thread of the client's, or on this one where nothing was begun.
  public func fetch(
    _ address: WebAddress, _ policy: WebFetchPolicy, maximumBytes: Int, milliseconds: Int64,
    completion: @escaping @Sendable (Result<Answer, Problem>) -> Void
  ) {
    let loop: (any EventLoop)? = state.withLock { state in
      guard !state.isShutDown, state.fetches < WebClient.maximumFetches else { return nil }
      state.fetches += 1
      let group = state.group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
      state.group = group
      return group.next()
    }
    guard let loop else { return completion(.failure(.failed("too many fetches are under way"))) }
    loop.execute { [self] in
      let fetch = WebFetch(
        address, policy, maximumBytes: maximumBytes, userAgent: userAgent, on: loop
      ) { result in
        self.state.withLock { $0.fetches -= 1 }
        completion(result)
      }
      fetch.start(within: milliseconds)
      locate(address, for: fetch, on: loop) { try self.trust(policy.authorities) }
    }
  }

  /// Ends all fetches that are under way, told or not, and takes no new ones.
  public func shutDown() async {
    let group = state.withLock { state in
      state.isShutDown = true
      defer { state.group = nil }
      return state.group
    }
    try? await group?.shutdownGracefully()
  }

  /// On the loop.
  private func locate(
    _ address: WebAddress, for fetch: WebFetch, on loop: any EventLoop, trust: @escaping () throws -> NIOSSLContext
  ) {
    guard case .name = address.host else { return fetch.connect(to: [address.host], trust) }
    guard let resolver else { return fetch.end(.failure(.failed("there is nobody to ask for its name"))) }
    // With a port the addresses of the name alone are asked for (RFC 3263 section 4.2).
    let uri = SIPURI(scheme: .sip, user: nil, host: address.host, port: address.port)
    let bound = NIOLoopBound((fetch, trust), eventLoop: loop)
    resolver.locate(uri, policy: LocationPolicy(transports: [.tcp])) { result in
      loop.execute {
        let (fetch, trust) = bound.value
        switch result {
        case .found(let targets): fetch.connect(to: targets.map(\.address.host), trust)
        case .failed(let failure): fetch.end(.failure(.failed(failure.description)))
        }
      }
    }
  }

  /// Blocks while the authorities are read, once for each set of them.
  private func trust(_ authorities: [[UInt8]]?) throws -> NIOSSLContext {
    if let known = state.withLock({ $0.trusts[authorities] }) { return known }
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    configuration.certificateVerification = .fullVerification
    if let authorities {
      configuration.trustRoots = .certificates(try authorities.flatMap { try NIOSSLCertificate.fromPEMBytes($0) })
    }
    let context = try NIOSSLContext(configuration: configuration)
    state.withLock { state in
      if state.trusts.count >= WebClient.maximumTrusts { state.trusts = [:] }
      state.trusts[authorities] = context
    }
    return context
  }
}
