import AppProtocol
import CallModel
import SDPCore
import SIPCore

/// The devices of a called user, of which at most one answers.
struct RingGroup {
  /// One that was told of the call.
  struct Device {
    /// What its media are called, from its first offer on; ``LegID/far`` for the first device.
    let leg: LegID
    var app: AppLeg
    /// Its ICE credentials and source, which its media get with its first offer.
    let way: LocalMedia
    var hasMedia = false
    /// What its media told while it rang.
    var sound = CallMachine.Leg.Sound()

    var name: String { app.identity.device }
  }

  /// A telephone that is called.
  struct Phone {
    /// What its media are called.
    let leg: LegID
    let device: CalledDevice
    /// Its INVITE; `nil` while it waits for ports.
    var trunk: TrunkLeg?

    var name: String { device.identity.device }
  }

  /// Those that are not told yet.
  private(set) var waiting: [CalledDevice]
  private(set) var devices: [Device] = []
  /// Telephones that were called and have not said no.
  private(set) var phones: [Phone] = []
  /// The leg of the last device that was told of the call; those that left it included.
  private(set) var told: UInt8

  /// - Parameter told: legs that the call has used for others before.
  init(_ devices: [CalledDevice], told: UInt8 = 0) {
    waiting = devices
    self.told = told
  }

  /// No device is left that could answer.
  var isEmpty: Bool { waiting.isEmpty && devices.isEmpty && phones.isEmpty }
  /// Of every device that could answer.
  var sessions: [SessionID] { waiting.map(\.session) + devices.map(\.app.session) + phones.map(\.device.session) }
  /// Devices whose offers were answered while they ring.
  var earlyOffers: Int { devices.count(where: \.hasMedia) }

  subscript(leg: LegID) -> Device? {
    get { devices.first { $0.leg == leg } }
    set {
      guard let newValue, let index = devices.firstIndex(where: { $0.leg == leg }) else { return }
      devices[index] = newValue
    }
  }

  func leg(of session: SessionID) -> LegID? { devices.first { $0.app.session == session }?.leg }

  mutating func add(_ device: CalledDevice) { waiting.append(device) }

  /// - Returns: those that are to be told now, at most `limit` in all.
  mutating func dequeueWaiting(limit: Int) -> [CalledDevice] {
    let next = Array(waiting.prefix(max(0, limit - devices.count - phones.count)))
    waiting = []
    return next
  }

  /// A device is told of the call.
  mutating func told(_ device: CalledDevice, negotiation: OfferAnswer, way: LocalMedia) -> Device {
    told = told == .max ? told : told + 1
    let app = AppLeg(
      session: device.session, identity: device.identity, name: device.name,
      watch: device.followsRooms ? .speakers : .none, AppLeg.Way(negotiation: negotiation, media: way))
    let member = Device(leg: LegID(told), app: app, way: way)
    devices.append(member)
    return member
  }

  /// A telephone is called.
  mutating func told(phone device: CalledDevice) -> LegID {
    told = told == .max ? told : told + 1
    phones.append(Phone(leg: LegID(told), device: device))
    return LegID(told)
  }

  func phone(_ leg: LegID) -> Phone? { phones.first { $0.leg == leg } }

  func phone(of handle: CallHandle) -> Phone? { phones.first { $0.trunk?.current?.handle == handle } }

  /// The telephone's INVITE is out.
  mutating func called(_ leg: LegID, _ trunk: TrunkLeg) {
    guard let index = phones.firstIndex(where: { $0.leg == leg }) else { return }
    phones[index].trunk = trunk
  }

  mutating func remove(phone leg: LegID) -> Phone? {
    guard let index = phones.firstIndex(where: { $0.leg == leg }) else { return nil }
    return phones.remove(at: index)
  }

  /// A session that was not told yet is over.
  mutating func forget(_ session: SessionID) { waiting.removeAll { $0.session == session } }

  mutating func remove(_ leg: LegID) -> Device? {
    guard let index = devices.firstIndex(where: { $0.leg == leg }) else { return nil }
    return devices.remove(at: index)
  }

  mutating func removeAll() -> [Device] {
    defer { devices = [] }
    waiting = []
    return devices
  }
}
