import CallModel
import SDPCore
import SecureTransport

/// STUN as anyone may send it to an ICE-lite agent. The first byte chooses whether the rest is a whole message or the
/// attributes of a request, and which of integrity and fingerprint are made for it: chance never finds those.
enum ICELiteDoor {
  static let door = FuzzDoor("ice-lite", "STUN to the gateway's port", dictionary: "stun", maximumBytes: 1600) {
    (input) throws(BrokenPromise) in
    guard let first = input.first, input.count <= PacketBuffer.maximumDatagram, let credentials else { return }
    let packet = PacketBuffer()
    if first & 1 == 0 {
      packet.replace(with: input.dropFirst())
    } else {
      request(first, input.dropFirst(), packet)
    }
    try ask(credentials, packet)
  }
}

private func request(_ choice: UInt8, _ attributes: ArraySlice<UInt8>, _ packet: PacketBuffer) {
  let writer = STUNWriter(packet, .request, transaction: STUNTransaction(high: 1, low: 2))
  if choice & 2 != 0 { writer.append(.userName, "gwUf:peer".utf8) }
  for byte in attributes.prefix(attributes.count & ~3) { packet.append(byte) }
  packet.store(UInt16(packet.count - STUNMessage.headerCount), at: 2)
  if choice & 4 != 0 { writer.appendIntegrity(STUNIntegrity(password)) }
  if choice & 8 != 0 { writer.appendFingerprint() }
}

private func ask(_ credentials: ICECredentials, _ packet: PacketBuffer) throws(BrokenPromise) {
  let before = packet.bytes
  let fragment = STUNMessage.userFragment(in: packet)
  let agent = ICELiteAgent(credentials, connectivityTimeout: 30_000, consentTimeout: 30_000)
  agent.begin(at: .zero)
  let reply = PacketBuffer()
  var events: [TransportEvent] = []
  for (source, second) in [(here, 0), (elsewhere, 1), (here, 2)] as [(MediaAddress, Int64)] {
    reply.count = 0
    let verdict = agent.receive(
      packet, on: MediaPort(rawValue: 1), from: source, at: MonotonicInstant(milliseconds: second), reply: reply,
      events: &events)
    try promise(packet.bytes == before, "reading changed the packet")
    switch verdict {
    case .silent: try promise(reply.count == 0, "an answer where there is none")
    case .refused(let code):
      try promise(STUNMessage(reply)?.errorCode == code, "another code")
      if code == 400 || code == 401 { try promise(reply.count <= packet.count, "an answer to a stranger pays") }
    case .accepted:
      try promise(STUNMessage(reply)?.mappedAddress == source, "another address")
      try promise(fragment == "gwUf" && agent.isProved(source), "taken without proof")
    }
  }
  if agent.selected != nil { try promise(STUNMessage(packet)?.nominates == true, "chosen without nomination") }
  agent.advance(to: MonotonicInstant(milliseconds: 40_000), events: &events)
  try promise(agent.failure != nil && agent.selected == nil, "consent does not end")
}

private let here = MediaAddress(ipv4: 0xC000_0263, port: 5000)
private let elsewhere = MediaAddress(high: 0x2001_0DB8_0000_0000, low: 1, port: 6000)
private let password = "gwPasswordgwPasswordgw00"
private let credentials = ICECredentials(userFragment: "gwUf", password: password)
