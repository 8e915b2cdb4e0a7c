import AppProtocol
import CallModel
import LandlineClient
import SDPCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct CallTests {
  @Test func aCallIsPlacedAnsweredAndHungUp() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber(
        "+46701234567", headers: ["x-order": "4711"], callerNumber: "+46850000000")
      #expect(call.direction == .outgoing)
      #expect(call.remote == "+46701234567")
      #expect(call.headers["x-order"] == "4711")
      #expect(await call.reaches("established"))
      #expect(call.id != nil)
      #expect(call.state == .established)
      #expect(call.details.price?.currency == "EUR")
      call.hangUp()
      let details = await call.ended()
      #expect(call.state == .ended)
      #expect(details.endCause == .hungUp)
      #expect(details.failure == nil)
      #expect(details.cost?.description == "0.001250 EUR")
      #expect(details.billedSeconds == 5)
      let placed = await gateway.request { if case .call(let placing) = $0 { placing } else { nil } }
      #expect(placed?.callerNumber == "+46850000000")
      #expect(placed?.headers == [PlaceCall.Header(name: "x-order", value: "4711")])
      #expect(placed?.offer.contains("opus") == true)
    }
  }

  @Test func aCallIsInitiatingUntilTheGatewayAnswers() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000408")
      #expect(call.state == .initiating)
      #expect(await gateway.request { if case .call(let placing) = $0 { placing.target } else { nil } } == call.remote)
      #expect(call.state == .initiating)
      #expect(call.id == nil)
    }
  }

  @Test func aConferenceTellsWhoIsThereAndWhoSpeaks() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callConference("weekly")
      #expect(await call.reaches("established"))
      #expect(call.members.isEmpty && call.participant == nil && call.speakers == nil)
      try call.follow(.speakers)
      let speakers = try await call.events.first { if case .speakers(let speakers) = $0.kind { speakers } else { nil } }
      #expect(speakers == RoomSpeakers([4], leads: 4))
      #expect(call.members.map(\.participant) == [3, 4] && call.members.map(\.isMuted) == [true, false])
      #expect(call.members.map(\.from.value) == ["alice", "carol"] && call.participant == 3)
      #expect(call.speakers == RoomSpeakers([4], leads: 4))
      let watch = await gateway.request { if case .room(_, let watch) = $0 { watch } else { nil } }
      #expect(watch == .speakers)
      call.hangUp()
      _ = await call.ended()
    }
  }

  @Test func aCallIsRecordedAndTellsSo() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callConference("weekly")
      #expect(await call.reaches("established"))
      #expect(call.recording == .off)
      try call.record(.on)
      let told = try await call.events.first { if case .recording(let state) = $0.kind { state } else { nil } }
      #expect(told == .on && call.recording == .on)
      let asked = await gateway.request { if case .record(_, let state) = $0 { state } else { nil } }
      #expect(asked == .on)
      call.hangUp()
      _ = await call.ended()
    }
  }

  @Test func theStagesComeInOrderWithTheirTimes() async throws {
    try await withClient { _, client in
      let call = try client.calls.callPhoneNumber("+46000000200")
      var names: [String] = []
      var last: Int64 = 0
      for await event in call.events {
        names.append(event.kind.name)
        #expect(event.milliseconds >= last)
        last = event.milliseconds
      }
      #expect(
        names.filter { $0 != "mediaSecured" } == [
          "progressing", "price", "ringing", "answered", "established", "ended",
        ])
      // A stream that is taken late tells the same.
      var again = 0
      for await _ in call.events { again += 1 }
      #expect(again == names.count)
    }
  }

  @Test func aFailureSaysWhoRefusedAndWhy() async throws {
    try await withClient { _, client in
      let busy = try await client.calls.callPhoneNumber("+46000000486").ended()
      #expect(busy.failure?.code == .busy)
      #expect(busy.failure?.sipStatus == 486)
      #expect(busy.failure?.errorDomain == .sip)
      #expect(busy.endCause == .denied)
      let funds = try await client.calls.callPhoneNumber("+46000000402").ended()
      #expect(funds.failure?.refusal == .insufficientCredit)
      #expect(funds.failure?.errorDomain == .other)
    }
  }

  @Test func aRingingCallIsGivenUp() async throws {
    try await withClient { _, client in
      let call = try client.calls.callPhoneNumber("+46000000180")
      #expect(await call.reaches("ringing"))
      call.hangUp()
      #expect(await call.ended().endCause == .canceled)
    }
  }

  @Test func aCallIsGivenUpBeforeTheGatewayKnowsIt() async throws {
    try await withClient { _, client in
      let call = try client.calls.callPhoneNumber("+46000000180")
      call.hangUp()
      #expect(await call.ended().endCause == .canceled)
      #expect(throws: UsageError.callEnded) { try call.hold() }
    }
  }

  @Test func soundGoesThereAndBack() async throws {
    try await withClient { gateway, client in
      let loudest = Mutex<Int16>(0)
      let (heard, continuation) = AsyncStream.makeStream(of: Void.self)
      let call = try client.calls.callPhoneNumber("+46000000202")
      call.audio.source = ToneSource(frequency: 440, level: -6)
      call.audio.sink = CallbackSink { samples in
        let peak = samples.max() ?? 0
        loudest.withLock { $0 = max($0, peak) }
        if peak > 4_000 { continuation.yield() }
      }
      #expect(await call.reaches("mediaSecured"))
      for await _ in heard { break }
      #expect(loudest.withLock { $0 } > 4_000)
      #expect(try await gateway.ask { $0.loudest } > 4_000)
    }
  }

  @Test func keysArePressed() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      #expect(await call.reaches("established"))
      try call.sendDTMF("12#d")
      var keys = ""
      for await event in call.events {
        if case .digit(let key, _) = event.kind { keys.append(key) }
        if keys.count == 4 { break }
      }
      #expect(keys == "12#D")
    }
  }

  @Test func theOtherSideIsPutOnHoldAndTakenBack() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      #expect(await call.reaches("established"))
      try call.hold()
      #expect(try await call.events.first { if case .onHold(true) = $0.kind { true } else { nil } } == true)
      #expect(call.isOnHold)
      #expect(try await gateway.ask { $0.directions } == [.receiveOnly])
      try call.resume()
      #expect(try await call.events.first { if case .onHold(false) = $0.kind { true } else { nil } } == true)
      #expect(!call.isOnHold)
      #expect(try await gateway.ask { $0.directions } == [.sendAndReceive])
    }
  }

  @Test func aMutedAppIsReported() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      #expect(await call.reaches("established"))
      call.audio.mute()
      #expect(call.audio.isMuted)
      #expect(await gateway.request { if case .mute(_, let isMuted) = $0 { isMuted } else { nil } } == true)
      call.audio.unmute()
      #expect(await gateway.request { if case .mute(_, let isMuted) = $0 { isMuted } else { nil } } == false)
    }
  }

  @Test func whatWasMeasuredIsReportedAtTheEnd() async throws {
    try await withClient { gateway, client in
      let call = try client.calls.callPhoneNumber("+46000000202")
      // Figures come once a second.
      let (seconds, continuation) = AsyncStream.makeStream(of: Void.self)
      let frames = Mutex(0)
      call.audio.sink = CallbackSink { _ in
        if frames.withLock({
          $0 += 1
          return $0
        }) == 80 {
          continuation.yield()
        }
      }
      #expect(await call.reaches("mediaSecured"))
      for await _ in seconds { break }
      call.hangUp()
      let report = await gateway.request { if case .report(_, let report) = $0 { report } else { nil } }
      #expect((report?.figures["packetsSent"] ?? 0) > 20)
      #expect(await call.ended().endCause == .hungUp)
    }
  }

  @Test func aDelegateIsToldTheStages() async throws {
    final class Witness: CallDelegate {
      let told = Mutex<[String]>([])
      func callDidProgress(_ call: Call) { told.withLock { $0.append("progress") } }
      func callDidRing(_ call: Call) { told.withLock { $0.append("ring") } }
      func callDidAnswer(_ call: Call) { told.withLock { $0.append("answer") } }
      func callDidEstablish(_ call: Call) { told.withLock { $0.append("establish") } }
      func callDidEnd(_ call: Call) { told.withLock { $0.append("end") } }
    }
    try await withClient { _, client in
      let witness = Witness()
      let call = try client.calls.callPhoneNumber("+46000000202")
      call.delegate = witness
      #expect(await call.reaches("established"))
      call.hangUp()
      _ = await call.ended()
      // The end is told to streams first.
      await client.stopGracefully()
      #expect(witness.told.withLock { $0 }.suffix(2) == ["establish", "end"])
    }
  }
}
