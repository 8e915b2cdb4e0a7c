import CallEngine
import CallModel
import Testing

@Suite("Lines of a call's story") struct StoryEventTests {
  typealias Event = CallRecord.StoryLine.Event

  /// The words under which records of all versions keep them.
  static let kept: [(String, Event)] = [
    ("rings", .rings), ("the caller gives up", .callerGaveUp), ("BYE", .hungUp(reason: nil)),
    ("BYE (Q.850 16)", .hungUp(reason: "Q.850 16")), ("BYE (SIP -)", .hungUp(reason: "SIP -")),
    ("the app's connection is lost", .appLost), ("the app is back", .appBack), ("the app's session is over", .appGone),
    ("ended by operator:anna", .endedByOperator("operator:anna")),
    ("no more credit: insufficientCredit", .noMoreCredit("insufficientCredit")),
    ("no sound from the near side", .noSound(.near)), ("no sound from the far side", .noSound(.far)),
    ("nothing at all comes from the near side", .wayLost(.near)),
    ("nothing at all comes from the far side", .wayLost(.far)), ("the near side's way is back", .wayBack(.near)),
    ("the far side's way is back", .wayBack(.far)), ("the near side sends from another address", .moved(.near)),
    ("the far side sends from another address", .moved(.far)), ("the near side is dead", .dead(.near)),
    ("the far side is dead", .dead(.far)),
    ("held by the other side", .held), ("taken back by the other side", .takenBack),
    ("no media in time", .noMediaInTime), ("called on phone", .calledOn(device: "phone")),
    ("accepted on phone", .acceptedOn(device: "phone")), ("declined on phone", .declinedOn(device: "phone")),
    ("busy on phone", .busyOn(device: "phone")), ("lost while it rang: phone", .deviceGone("phone")),
    ("the near side transfers to bob", .transferAsked(.near, target: "bob")),
    ("the far side transfers to +46701234567", .transferAsked(.far, target: "+46701234567")),
    ("transferred to bob", .transferred(target: "bob")), ("not transferred: sip.busy", .transferFailed("sip.busy")),
  ]

  @Test("what was kept says the same", arguments: kept) func words(_ text: String, _ event: Event) {
    #expect(CallRecord.StoryLine(milliseconds: 0, text: text).event == event)
    #expect(event.text == text)
  }

  @Test(
    "other lines are for people alone",
    arguments: ["", "rings twice", "the app is muted", "BYEBYE", "BYE (", "200 from carrier", "The far side is dead"])
  func others(_ text: String) { #expect(Event(text) == nil) }
}
