import CallModel
import SDPCore
import SecureTransport
import Testing

/// What can happen to the way between an app and the gateway, in one order.
struct PathOrder: Sendable, CustomTestStringConvertible {
  enum Step: String, CaseIterable, Sendable {
    /// The app's packets come from an address that the gateway has never seen.
    case rebinding
    case check, nomination
    /// Only the present address checks until the consent of all others is over.
    case consentLoss
    case restart
    /// The app's packets come from its first address again.
    case `return`
  }

  let steps: [Step]

  var testDescription: String { steps.map(\.rawValue).joined(separator: ", ") }

  /// Every order of every choice of steps, each step at most once.
  static let all: [PathOrder] = {
    var orders: [[Step]] = [[]]
    var longest = orders
    for _ in Step.allCases {
      longest = longest.flatMap { order in Step.allCases.filter { !order.contains($0) }.map { order + [$0] } }
      orders += longest
    }
    return orders.map { PathOrder(steps: $0) }
  }()
}

/// An app that a translator gives other addresses, and that speaks all the time, towards an app leg.
final class MovingApp {
  let leg: AppLeg
  private(set) var here = CheckingPeer.here
  private var sequence: UInt16 = 0
  private var heard: UInt16 = 0
  /// The last packet that the gateway took, as it was on the way, and where from.
  private(set) var taken: (bytes: [UInt8], from: MediaAddress)?
  private var addresses: UInt16 = 0
  private var restarts = 0

  init() throws {
    leg = try AppLeg()
    leg.connect()
  }

  func take(_ step: PathOrder.Step) throws {
    switch step {
    case .rebinding:
      addresses += 1
      move(to: MediaAddress(ipv4: 0xC633_6401, port: 50_000 + addresses))
    case .check: leg.check(nominates: false, from: here)
    case .nomination: leg.check(nominates: true, from: here)
    case .consentLoss:
      // As long as the consent of others lasts, and a bit; checks as often as a browser makes them.
      for _ in 0..<13 {
        leg.check(nominates: false, from: here)
        speak(for: 2_500, every: 100)
      }
    case .restart:
      restarts += 1
      let fresh = try CheckingPeer.credentials("new\(restarts)", "anotherPassword0000000")
      leg.transport.restart(fresh)
      leg.apply(try AppLeg.plan(DTLSFixture.peerCertificate.get().fingerprint, userFragment: "peer\(restarts + 1)"))
      leg.checks = CheckingPeer(credentials: fresh)
      // Another app's series: transactions are never used twice.
      leg.checks.series = 7 + UInt32(restarts)
    case .return: move(to: CheckingPeer.here)
    }
  }

  private func move(to address: MediaAddress) {
    here = address
    leg.peerAddress = address
  }

  /// The next packet of sound, as it goes on its way.
  func nextPacket() -> PacketBuffer {
    sequence &+= 1
    return leg.protected(sequence)
  }

  /// One packet of sound from where the app is.
  @discardableResult
  func speak() -> ReceivedDatagram {
    let packet = nextPacket()
    let bytes = packet.bytes
    let received = leg.deliver(packet, from: here)
    if received == .rtp { taken = (bytes, here) }
    return received
  }

  func speak(for milliseconds: Int64, every interval: Int64 = 20) {
    for _ in 0..<(milliseconds / interval) {
      speak()
      leg.advance(milliseconds: interval)
    }
  }

  /// Whether a packet of the gateway reaches the app where it is, and opens there.
  func hears() -> Bool {
    heard &+= 1
    let packet = SRTPFixtures.rtp(sequence: heard, source: 0x5566_7788)
    return leg.transport.destination == here && leg.transport.protectRTP(packet)
      && leg.peerReceiving?.unprotectRTP(packet) == .opened
  }
}
