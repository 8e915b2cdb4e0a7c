import AppProtocol
import CallModel
import LandlineNode
import LandlineWire
import NIOPosix
import PeerKit
import SIPCore
import Testing

/// Calls that a far end places: another far end stands for the gateway.
@Suite(.serialized) struct PlacedCallTests {
  private static let loopback = SIPHost.ipv4(0x7F00_0001)

  private func run(_ body: (_ caller: FarEnd, _ gateway: TransportAddress) async throws -> Void) async throws {
    let prompts = try SandboxCaller.prompts.get()
    let callee = try await FarEnd.start(
      on: MultiThreadedEventLoopGroup.singleton.next(), timing: SandboxCaller.quick, prompts: prompts)
    let caller = try await FarEnd.start(
      on: MultiThreadedEventLoopGroup.singleton.next(), timing: SandboxCaller.quick, mediaPorts: 24_000...25_999,
      prompts: prompts)
    let outcome: Result<Void, any Error>
    do {
      outcome = .success(try await body(caller, TransportAddress(.udp, Self.loopback, port: callee.port)))
      for end in [caller, callee] {
        _ = try await Deadline(seconds: 10).first("far end that holds nothing") {
          let held = try await end.holdings()
          return held.calls == 0 && held.media.isIdle && held.agent["live"] ?? 0 == 0 ? true : nil
        }
      }
    } catch {
      await caller.shutdown()
      await callee.shutdown()
      throw error
    }
    await caller.shutdown()
    await callee.shutdown()
    try outcome.get()
  }

  private func order(_ number: String) throws -> InboundCallOrder {
    InboundCallOrder(number: try E164Number(number), caller: try E164Number("+46701111111"))
  }

  @Test("It rings, is answered, sounds both ways, and ends when its time is over; what was heard is a WAV file")
  func whole() async throws {
    try await run { caller, gateway in
      var order = try order("+46701234567")
      order.talkMilliseconds = 1_500
      order.records = true
      var words: [String] = []
      var file: [UInt8] = []
      var patches: [InboundCallStep.Patch] = []
      var packets: UInt64 = 0
      var (answered, over) = (Int64(0), Int64(0))
      for await step in try #require(await caller.call(order, at: gateway)) {
        switch step.event {
        case .progress(let status, _, _): words.append("\(status)")
        case .answered:
          words.append("answered")
          answered = step.milliseconds
        case .sound: words.append("sound")
        case .quality(let quality): packets = quality.received.packets
        case .recorded(let bytes): file += bytes
        case .recordingEnded(let last): patches = last
        case .ended(let cause, let failure):
          words.append("\(cause) \(failure == nil)")
          over = step.milliseconds
        }
      }
      #expect(words == ["180", "answered", "sound", "hungUp true"])
      #expect(over - answered >= 1_400)
      #expect(packets > 30)
      #expect(file.starts(with: Array("RIFF".utf8)) && patches.count == 2)
      for patch in patches {
        file.replaceSubrange(patch.offset..<(patch.offset + patch.bytes.count), with: patch.bytes)
      }
      let size = (0..<4).reduce(0) { $0 | Int(file[40 + $1]) << (8 * $1) }
      #expect(size == file.count - 44 && size > 8_000)
      #expect(file[44...].contains { $0 != 0 })
    }
  }

  @Test(
    "A refusal is told with its status",
    arguments: [(SandboxNumber.notFound, 404), (.busy, 486), (.declined, 603), (.congestion, 503)])
  func refused(number: SandboxNumber, status: Int) async throws {
    try await run { caller, gateway in
      let steps = try #require(await caller.call(try order("+\(number.rawValue)"), at: gateway))
      var failure: CallFailure?
      for await step in steps { if case .ended(_, let found) = step.event { failure = found } }
      #expect(failure?.sipStatus == status)
    }
  }

  @Test("The other side hangs up; a caller that nobody reads any more hangs up itself")
  func ends() async throws {
    try await run { caller, gateway in
      var cause: CallEndCause?
      for await step in try #require(
        await caller.call(try order("+\(SandboxNumber.answerThenDrop.rawValue)"), at: gateway))
      {
        if case .ended(let found, _) = step.event { cause = found }
      }
      #expect(cause == .hungUp)
      for await step in try #require(
        await caller.call(try order("+\(SandboxNumber.noAnswer.rawValue)"), at: gateway))
      {
        if case .progress = step.event { break }
      }
    }
  }

  @Test("So many at a time; whoever leaves a call ends it")
  func limit() async throws {
    try await run { caller, gateway in
      var calls: [AsyncStream<InboundCallStep>] = []
      for _ in 0..<FarEnd.maximumPlacedCalls {
        calls.append(
          try #require(await caller.call(try order("+\(SandboxNumber.noAnswer.rawValue)"), at: gateway)))
      }
      #expect(await caller.call(try order("+46701234567"), at: gateway) == nil)
      calls = []
    }
  }
}
