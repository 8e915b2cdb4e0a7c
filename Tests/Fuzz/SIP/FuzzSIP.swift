import CallModel
import FuzzBound
import SIPCore

/// The door that every datagram takes, with a whole agent behind it. The first byte chooses the transport and whether
/// the rest is one message or two in a row: what the second one finds is what the first one left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSIP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let message = Array(bytes.dropFirst())
  let transport: SIPTransport = bytes[0] & 1 == 0 ? .udp : .tcp
  withinTimeBound {
    let agent = UserAgent(
      UserAgent.Configuration(
        addresses: [AdvertisedAddress(listener: ListenerID(1), transport: transport, host: host, port: 5060)],
        acceptsCalls: true, allowsTransfer: true, trustsCallers: true),
      identifiers: IdentifierSource { 7 })
    let path = SIPPath(listener: ListenerID(1), remote: TransportAddress(transport, host, port: 5080))
    var effects: [UserAgentEffect] = []
    if bytes[0] & 2 == 0 {
      agent.receive(message, from: path, at: .zero, into: &effects)
    } else {
      let middle = message.count / 2
      agent.receive(Array(message[..<middle]), from: path, at: .zero, into: &effects)
      agent.receive(Array(message[middle...]), from: path, at: .zero, into: &effects)
    }
    answer(&effects, by: agent)
    for second in [1, 40, 400] as [Int64] {
      agent.advance(to: MonotonicInstant(milliseconds: second * 1000), into: &effects)
    }
  }
  return 0
}

/// Takes every call and every offer.
private func answer(_ effects: inout [UserAgentEffect], by agent: UserAgent) {
  for effect in effects {
    switch effect {
    case .event(.incoming(let call, _)):
      agent.handle(.ring(call, status: 183, body: body, headers: CustomHeaders()), at: .zero, into: &effects)
      agent.handle(.accept(call, body: body, headers: CustomHeaders()), at: .zero, into: &effects)
    case .event(.offered(_, let exchange, _)): agent.handle(.answer(exchange, body), at: .zero, into: &effects)
    default: continue
    }
  }
}

private let host = SIPHost.ipv4(0x7F00_0001)
private let body = MessageBody(sessionDescription: Array("v=0\r\n".utf8))
