import AppProtocol
import CallModel
import Testing

@Suite("Calls for a user, at the door")
struct InvitationTests {
  private let listener = DeviceProfile(features: [.incoming], isListening: true)

  private func invitation() throws -> Invitation {
    Invitation(
      from: .init(kind: .user, value: "alice", name: ""), to: try UserID("foo"),
      expiresAt: Instant(milliseconds: 45_000))
  }

  @Test("a registration says what the device can do and whether it listens; the features of both are told back")
  func registers() throws {
    var scene = DoorScene()
    _ = try scene.register(1, profile: listener)
    #expect(scene.registered[ConnectionID(1)]?.features == [.incoming])
    _ = try scene.register(2)
    #expect(scene.registered[ConnectionID(2)]?.features == [])
  }

  @Test("an app listens and listens no more on the session that stands")
  func listens() throws {
    var scene = DoorScene()
    _ = try scene.register(1, profile: listener)
    #expect(try scene.send(1, .request(RequestNumber(2), .listen(false))) == ["1 < 1 done #2", "s1 listens no more"])
    #expect(try scene.send(1, .request(RequestNumber(3), .listen(true))) == ["1 < 2 done #3", "s1 listens"])
  }

  @Test("features and rules of newer apps are passed over or named")
  func unknownWords() throws {
    var scene = DoorScene()
    _ = try scene.open(1)
    func text(_ more: String) -> String {
      """
      {"type":"register","id":1,"application":"a","user":"foo","device":"d","capabilities":["calling"],
      "proof":{"kind":"token","token":"t"},"features":["incoming.1","smell.3"],\(more)}
      """
    }
    #expect(try scene.send(1, text: text(#""name":"x""#)) == ["verify foo"])
    _ = try scene.open(2)
    let refused = try scene.send(2, text: text(#""busy":"never""#))
    #expect(refused.first?.contains("register.busy 'never' is not known") == true, "\(refused)")
  }

  @Test("16: a session that is taken up while it rings hears of the call once; after the end of the end only")
  func resumption() throws {
    var scene = DoorScene()
    let session = try scene.register(1, profile: listener)
    let registered = try #require(scene.registered[ConnectionID(1)])
    let call = try CallID(validating: "c-1")
    let second = try CallID(validating: "c-2")
    _ = try scene.step(.closed(ConnectionID(1)))
    _ = try scene.step(.event(session, .incoming(call, invitation())))
    let first = try scene.resume(2, registered.session, registered.token.exposed)
    #expect(first.filter { $0.contains("incoming") } == ["2 < 1 incoming c-1"])
    #expect(first.contains { $0.contains(#"resumed #100 last 1 ["c-1"]"#) }, "\(first)")
    let resumed = try #require(scene.resumed[ConnectionID(2)])
    _ = try scene.step(.closed(ConnectionID(2)))
    _ = try scene.step(.event(session, .incoming(second, invitation())))
    let summary = CallSummary(
      startedAt: Instant(milliseconds: 0), endedAt: Instant(milliseconds: 1), cause: .canceled, currency: "EUR",
      isMissed: true)
    _ = try scene.step(.event(session, .ended(second, summary)))
    _ = try scene.step(.event(session, .ended(call, summary)))
    let after = try scene.resume(3, registered.session, resumed.token.exposed, lastEvent: 1)
    #expect(after.filter { $0.contains("incoming") }.isEmpty, "\(after)")
    #expect(after.filter { $0.contains("ended c-") } == ["3 < 3 ended c-2", "3 < 4 ended c-1"])
  }

  @Test("an incoming call keeps the session of a gateway that drains")
  func drain() throws {
    var scene = DoorScene()
    let session = try scene.register(1, profile: listener)
    let call = try CallID(validating: "c-1")
    _ = try scene.step(.event(session, .incoming(call, invitation())))
    #expect(try scene.step(.drain) == ["1 < draining"])
    let summary = CallSummary(
      startedAt: Instant(milliseconds: 0), endedAt: Instant(milliseconds: 1), cause: .canceled, currency: "EUR")
    let last = try scene.step(.event(session, .ended(call, summary)))
    #expect(last.contains("ended s1"), "\(last)")
  }
}
