import CallModel
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One fetch, from its address to its answer; on its loop only.
final class WebFetch {
  /// Addresses of one name that are tried.
  static let maximumAddresses = 4
  /// How long one of them may take to take the connection; the fetch may be over before.
  static let connectMilliseconds: Int64 = 2_000

  private let address: WebAddress
  private let policy: WebFetchPolicy
  private let maximumBytes: Int
  private let userAgent: String
  private let eventLoop: any EventLoop
  private var completion: ((Result<WebClient.Answer, WebClient.Problem>) -> Void)?
  private var deadline: Scheduled<Void>?
  private var channel: (any Channel)?

  init(
    _ address: WebAddress, _ policy: WebFetchPolicy, maximumBytes: Int, userAgent: String, on eventLoop: any EventLoop,
    _ completion: @escaping (Result<WebClient.Answer, WebClient.Problem>) -> Void
  ) {
    self.address = address
    self.policy = policy
    self.maximumBytes = maximumBytes
    self.userAgent = userAgent
    self.eventLoop = eventLoop
    self.completion = completion
  }

  func start(within milliseconds: Int64) {
    deadline = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { [self] in
      end(.failure(.late))
    }
  }

  func end(_ result: Result<WebClient.Answer, WebClient.Problem>) {
    guard let completion else { return }
    self.completion = nil
    deadline?.cancel()
    deadline = nil
    channel?.close(promise: nil)
    channel = nil
    completion(result)
  }

  /// Connects to the first address that takes the connection. One that must not be reached refuses them all: a name that
  /// leads inside as well as outside is no mistake of its owner.
  func connect(to hosts: [SIPHost], _ trust: () throws -> NIOSSLContext) {
    guard completion != nil else { return }
    if let forbidden = hosts.first(where: { !policy.gate.allows($0) }) {
      return end(.failure(.failed("it leads to \(forbidden), which is no public address")))
    }
    let context: NIOSSLContext
    do { context = try trust() } catch {
      return end(
        .failure(.failed("the authorities of web servers cannot be read: \(ErrorText.text(error))")))
    }
    connect(to: hosts.prefix(WebFetch.maximumAddresses)[...], context, "the name has no address")
  }

  private func connect(to hosts: ArraySlice<SIPHost>, _ context: NIOSSLContext, _ problem: String) {
    guard completion != nil else { return }
    guard let host = hosts.first,
      let target = try? SocketAddress(ipAddress: host.unbracketed, port: Int(address.port))
    else { return end(.failure(.failed(problem))) }
    let handler = WebAnswerHandler(address, maximumBytes: maximumBytes, userAgent: userAgent) { [self] in end($0) }
    let name: String? = if case .name(let name) = address.host { name } else { nil }
    let bound = NIOLoopBound((self, handler), eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .connectTimeout(.milliseconds(WebFetch.connectMilliseconds))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
          try pipeline.addHandlers(WebAnswerHandler.codec)
          try pipeline.addHandler(bound.value.1)
        }
      }
      .connect(to: target)
      .whenComplete { result in
        let fetch = bound.value.0
        switch result {
        case .success(let channel): fetch.connected(channel)
        case .failure(let error):
          let problem = "\(host) does not take the connection: \(ErrorText.text(error))"
          fetch.connect(to: hosts.dropFirst(), context, problem)
        }
      }
  }

  private func connected(_ channel: any Channel) {
    guard completion != nil else { return channel.close(promise: nil) }
    self.channel = channel
  }
}
