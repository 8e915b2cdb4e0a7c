import AppProtocol
import CallEngine
import CallModel
import NodeCore
import Testing

/// The numbers are those of the list of edge cases.
@Suite("The directory of devices")
struct DeviceDirectoryTests {
  private let listener = DeviceProfile(features: [.incoming], isListening: true)
  private var directory = DeviceDirectory()

  private func identity(
    _ device: String, user: String = "bob", application: String = "app", _ capabilities: Set<AppCapability> = [.calling]
  ) throws -> AppIdentity {
    AppIdentity(application: application, user: try UserID(user), device: device, capabilities: capabilities)
  }

  private func called(_ user: String = "bob", application: String = "app", by caller: AppIdentity? = nil) throws
    -> CalledUser
  {
    directory.calledUser(
      .init(application: application, user: try UserID(user)), by: try caller ?? identity("laptop", user: "alice"),
      rule: .device)
  }

  @Test("every device that listens rings, in the order in which they came")
  mutating func rings() throws {
    directory.add(SessionID(1), try identity("phone"), listener)
    directory.add(SessionID(2), try identity("tablet"), listener)
    directory.add(SessionID(3), try identity("watch"), DeviceProfile(features: [.incoming], isListening: false))
    #expect(try called().devices.map(\.session) == [SessionID(1), SessionID(2)])
    directory.setListening(true, SessionID(3))
    directory.setListening(false, SessionID(1))
    #expect(try called().devices.map(\.session) == [SessionID(2), SessionID(3)])
    directory.remove(SessionID(2))
    directory.remove(SessionID(2))
    #expect(try called().devices.map(\.session) == [SessionID(3)])
    #expect(directory.count == 2)
  }

  @Test("of the sessions of one device the newest that listens rings; the older ones are named for its calls")
  mutating func newest() throws {
    directory.add(SessionID(1), try identity("phone"), listener)
    directory.add(SessionID(2), try identity("phone"), listener)
    let device = try #require(try called().devices.first)
    #expect(device.session == SessionID(2) && device.olderSessions == [SessionID(1)])
    directory.setListening(false, SessionID(2))
    #expect(try called().devices.map(\.session) == [SessionID(1)])
    #expect(directory.device(SessionID(2), rule: .device) == nil)
    #expect(directory.device(SessionID(1), rule: .device)?.session == SessionID(1))
  }

  @Test("12: a device without the capability to call does not ring; where no other is left, the user cannot be called")
  mutating func incapable() throws {
    directory.add(SessionID(1), try identity("phone", [.messaging]), listener)
    #expect(try called().devices.isEmpty)
    #expect(try called().absence == .incapable)
    directory.add(SessionID(2), try identity("tablet"), listener)
    #expect(try called().devices.map(\.session) == [SessionID(2)])
  }

  @Test("13: a device that is older than incoming calls does not ring")
  mutating func withoutFeature() throws {
    directory.add(SessionID(1), try identity("phone"), DeviceProfile(isListening: true))
    #expect(try called().devices.isEmpty)
    #expect(try called().absence == .incapable)
  }

  @Test("14: nobody there and nobody who listens are told apart")
  mutating func absence() throws {
    let bob = DeviceDirectory.Person(application: "app", user: try UserID("bob"))
    #expect(try called().absence == .unknown)
    #expect(directory.presence(of: bob) == nil)
    directory.add(SessionID(1), try identity("phone"), DeviceProfile(features: [.incoming], isListening: false))
    #expect(try called().absence == .unreachable)
    #expect(directory.presence(of: bob) == .unreachable)
    directory.setListening(true, SessionID(1))
    #expect(directory.presence(of: bob) == .reachable)
  }

  @Test("15: the same id with another application is another person")
  mutating func otherApplication() throws {
    directory.add(SessionID(1), try identity("phone", application: "other"), listener)
    #expect(try called().devices.isEmpty)
    #expect(try called(application: "other").devices.map(\.session) == [SessionID(1)])
  }

  @Test("whoever calls the own user rings on the other devices")
  mutating func oneself() throws {
    directory.add(SessionID(1), try identity("phone"), listener)
    directory.add(SessionID(2), try identity("tablet"), listener)
    directory.add(SessionID(3), try identity("phone"), listener)
    #expect(try called(by: identity("phone")).devices.map(\.session) == [SessionID(2)])
    #expect(
      try called(by: identity("phone", application: "other")).devices.map(\.session) == [SessionID(2), SessionID(3)])
  }

  @Test("a device's busy rule goes before the application's, and its name is the caller's name")
  mutating func profile() throws {
    directory.add(
      SessionID(1), try identity("phone"),
      DeviceProfile(features: [.incoming], isListening: true, name: "Bob's phone", busyRule: .waiting))
    directory.add(SessionID(2), try identity("tablet"), listener)
    #expect(try called().devices.map(\.busyRule) == [.waiting, .device])
    #expect(directory.name(of: SessionID(1)) == "Bob's phone" && directory.name(of: SessionID(2)).isEmpty)
    #expect(directory.name(of: SessionID(9)).isEmpty)
  }
}
