import CallModel
import SDPCore
import SecureTransport

/// A full ICE agent as far as it is seen from the wire: makes checks, byte by byte as a test wants them.
struct CheckingPeer {
  static let here = MediaAddress(ipv4: 0xC000_0263, port: 5000)
  static let elsewhere = MediaAddress(ipv4: 0xC633_640A, port: 6000)

  var userName = "gwUf:peer"
  var password = "gwPasswordgwPasswordgw00"
  var priority: UInt32? = 0x6E7F_1EFF
  var nominates = false
  var hasIntegrity = true
  var hasFingerprint = true
  /// A tie breaker of the controlling role; `nil`: of the controlled one.
  var controlling: UInt64? = 0x1122_3344_5566_7788
  /// Attributes in front of the integrity, and behind it.
  var before: [(type: UInt16, value: [UInt8])] = []
  var behind: [(type: UInt16, value: [UInt8])] = []
  /// Peers of different series make different transactions.
  var series: UInt32 = 7
  private(set) var made: UInt64 = 0

  init(credentials: ICECredentials? = nil, nominates: Bool = false) {
    self.nominates = nominates
    guard let credentials else { return }
    userName = "\(credentials.userFragment):peer"
    password = credentials.password.exposed
  }

  static func credentials(_ fragment: String = "gwUf", _ password: String = "gwPasswordgwPasswordgw00") throws
    -> ICECredentials
  {
    guard let credentials = ICECredentials(userFragment: fragment, password: password) else {
      throw TransportFailure.key
    }
    return credentials
  }

  /// The next check, with a transaction of its own.
  mutating func check() -> PacketBuffer {
    made += 1
    let packet = PacketBuffer()
    let writer = STUNWriter(
      packet, .request,
      transaction: STUNTransaction(high: series, low: (UInt64(series) << 32 | made) &* 0x9E37_79B9_7F4A_7C15))
    if !userName.isEmpty { writer.append(.userName, userName.utf8) }
    if let priority { writer.append(.priority, integer: priority) }
    writer.append(controlling == nil ? .iceControlled : .iceControlling, integer: controlling ?? 1)
    if nominates { writer.append(.useCandidate, []) }
    for attribute in before { writer.append(attribute.type, attribute.value) }
    if hasIntegrity { writer.appendIntegrity(STUNIntegrity(password)) }
    for attribute in behind { writer.append(attribute.type, attribute.value) }
    if hasFingerprint { writer.appendFingerprint() }
    return packet
  }
}

/// An agent with what it wrote and told.
final class AgentBench {
  let agent: ICELiteAgent
  let reply = PacketBuffer()
  var events: [TransportEvent] = []
  var now = MonotonicInstant.zero

  init(_ credentials: ICECredentials) {
    agent = ICELiteAgent(credentials, connectivityTimeout: 30_000, consentTimeout: 30_000)
    agent.begin(at: now)
  }

  convenience init() throws { self.init(try CheckingPeer.credentials()) }

  @discardableResult
  func receive(
    _ packet: PacketBuffer, on port: MediaPort = AppLeg.port, from source: MediaAddress = CheckingPeer.here
  ) -> ICELiteAgent.Verdict {
    reply.count = 0
    return agent.receive(packet, on: port, from: source, at: now, reply: reply, events: &events)
  }

  func advance(milliseconds: Int64) {
    now = now.advanced(byMilliseconds: milliseconds)
    agent.advance(to: now, events: &events)
  }

  /// The events since the last call.
  func taken() -> [TransportEvent] {
    defer { events = [] }
    return events
  }
}
