import AppProtocol
import CallEngine
import CallModel
import NodeCore
import Testing

/// The numbers are those of the list of edge cases.
@Suite("Calls for users, through the whole hall")
struct UserCallTests {
  private func stage() throws -> NodeStage {
    let stage = try NodeStage()
    stage.start()
    try stage.register()
    stage.call("bob", kind: .user)
    return stage
  }

  private func ended(_ events: [AppEvent]) -> CallSummary? {
    events.lazy.compactMap { if case .ended(_, let summary) = $0 { summary } else { nil } }.last
  }

  private func invited(_ events: [AppEvent]) -> CallID? {
    events.lazy.compactMap { if case .incoming(let call, _) = $0 { call } else { nil } }.last
  }

  @Test("it rings on the user's devices, no ledger hears of it, and a device that comes while it rings rings as well")
  func rings() throws {
    let stage = try NodeStage()
    stage.start()
    let bob = try stage.join(
      "bob", "phone", profile: DeviceProfile(features: [.incoming], isListening: true, name: "Bob"))
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    let call = try #require(invited(stage.heard(bob)))
    let tablet = try stage.join("bob", "tablet")
    #expect(invited(stage.heard(tablet)) == call)
    stage.ask(bob, 2, .accept(call, offer: NodeStage.offer, headers: []))
    #expect(stage.events.contains { if case .accepted = $0 { true } else { false } }, "\(stage.events)")
    #expect(ended(stage.heard(tablet))?.cause == .otherDeviceAnswered)
    stage.ask(bob, 3, .hangUp(call))
    #expect(ended(stage.events)?.cause == .hungUp && ended(stage.heard(bob))?.cause == .hungUp)
    #expect(stage.operations.isEmpty)
    #expect(stage.core.isIdle)
  }

  @Test(
    "14: a user whose device never registered is unknown; one that is gone cannot be reached", arguments: [false, true])
  func absent(_ isKnown: Bool) throws {
    let stage = try stage()
    try stage.answerPayer()
    guard case .lookUpUser(let person)? = stage.last.last else {
      Issue.record("\(stage.last)")
      return
    }
    #expect(person.user.text == "bob" && person.application == NodeStage.application)
    stage.feed(.userLookedUp(person, isKnown: isKnown))
    try stage.answerMedia()
    #expect(ended(stage.events)?.failure?.code == (isKnown ? .userUnreachable : .userUnknown))
    #expect(stage.core.isIdle)
  }

  @Test("a store that cannot be read has not said that there is no such user; who comes meanwhile is called")
  func lateDevice() throws {
    let stage = try stage()
    try stage.answerPayer()
    let bob = try stage.join("bob", "phone")
    stage.feed(.userLookedUp(.init(application: NodeStage.application, user: try UserID("bob")), isKnown: nil))
    try stage.answerMedia()
    #expect(invited(stage.heard(bob)) != nil)
  }

  @Test("12, 13: devices that cannot be called hear nothing, and the caller hears why")
  func incapable() throws {
    let stage = try NodeStage()
    stage.start()
    let old = try stage.join("bob", "phone", profile: DeviceProfile())
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(stage.heard(old).isEmpty)
    #expect(ended(stage.events)?.failure?.code == .capabilityRemote)
  }

  @Test("a device that listens no more does not ring, and rings again when it listens")
  func listening() throws {
    let stage = try NodeStage()
    stage.start()
    let bob = try stage.join("bob", "phone")
    stage.ask(bob, 2, .listen(false))
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(ended(stage.events)?.failure?.code == .userUnreachable)
    stage.ask(bob, 3, .listen(true))
    stage.call("bob", kind: .user)
    try stage.answerMedia()
    #expect(invited(stage.heard(bob)) != nil)
  }

  @Test("21: a node that is gone while it rings has written nothing that is billed")
  func killed() throws {
    let stage = try NodeStage()
    stage.start()
    _ = try stage.join("bob", "phone")
    try stage.register()
    stage.call("bob", kind: .user)
    try stage.answerPayer()
    try stage.answerMedia()
    #expect(stage.operations.isEmpty)
    #expect(stage.effects.allSatisfy { if case .journal = $0 { false } else { true } })
  }
}
