import CallModel
import LandlineResolver
import LandlineWire
import NIOPosix
import SIPCore
import Testing

@Suite struct ResolverLocatorTests {
  private final class Nobody: SIPNodeDelegate {
    func node(_ node: SIPNode, happened event: UserAgentEvent) {}
    func node(_ node: SIPNode, met problem: TransportProblem) {}
  }

  /// Paths start at the listener of their transport; what the node does not speak is not found.
  @Test func findsPathsOfTheNodesListeners() async throws {
    let resolver = try Resolver()
    let listeners = [SIPTransport.udp, .tcp].enumerated().map { index, transport in
      SIPListener(id: ListenerID(UInt16(index + 1)), transport: transport, host: .loopback, port: 0)
    }
    let node = try await SIPNode.start(
      SIPNode.Configuration(listeners: listeners), on: MultiThreadedEventLoopGroup.singleton.next(),
      locator: ResolverLocator(resolver)
    ) { _ in Nobody() }
    func paths(_ text: String) async throws -> [SIPPath] {
      let uri = try SIPURI(parsing: text)
      return await withCheckedContinuation { continuation in
        ResolverLocator(resolver).locate(uri, over: node.advertisedAddresses) { continuation.resume(returning: $0) }
      }
    }
    let host = SIPHost.ipv4(0xC000_0201)
    #expect(
      try await paths("sip:192.0.2.1") == [
        SIPPath(listener: ListenerID(1), remote: TransportAddress(.udp, host, port: 5060))
      ])
    #expect(
      try await paths("sip:192.0.2.1:5080;transport=tcp") == [
        SIPPath(listener: ListenerID(2), remote: TransportAddress(.tcp, host, port: 5080))
      ])
    #expect(try await paths("sips:192.0.2.1").isEmpty)
    try await node.shutdown()
    resolver.shutDown()
  }
}
