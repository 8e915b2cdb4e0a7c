import CallModel
import Foundation
import LandlineWire
import NIOCore
import NIOPosix
import SIPCore

/// Calls of our own at a fixed rate, through real sockets, towards SIPp.
enum CallLoad {
  static func measure(rate: Int, _ options: SIPBench.Options) async throws -> SIPBenchReport.Load {
    let folder = try BenchFolder(in: BenchPlaces.diskFolder)
    let calleePort = try PeerProgram.freePort()
    try Scenarios.callee.write(toFile: folder.file("callee.xml"), atomically: true, encoding: .utf8)
    let callee = try PeerProgram(
      options.sipp, ["-sf", folder.file("callee.xml"), "-i", "127.0.0.1", "-p", "\(calleePort)", "-nostdin"])
    defer { callee.end() }
    try PeerProgram.waitForPort(calleePort, seconds: 30)

    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let calls = max(1, Int(Double(rate) * options.seconds))
    let done = loop.makePromise(of: Int.self)
    let loopback = SIPHost.ipv4(0x7F00_0001)
    let listener = SIPListener(id: ListenerID(1), transport: .udp, host: loopback, port: 0)
    let node = try await SIPNode.start(SIPNode.Configuration(listeners: [listener]), on: loop) { _ in
      Caller(calls: calls, done: done, within: .seconds(Int64(options.seconds) + 40), on: loop)
    }
    let path = SIPPath(
      listener: ListenerID(1), remote: TransportAddress(.udp, loopback, port: calleePort), connection: nil)
    let before = ProcessClock.now()
    // Every two milliseconds as many as are due by the schedule, not by completion.
    let pace = try await loop.submit {
      NIOLoopBound(Pace(start: .now(), rate: rate, calls: calls), eventLoop: loop)
    }.get()
    loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(2)) { task in
      for number in pace.value.due(at: .now()) { node.execute(.placeCall(CallHandle(number), call(to: path))) }
      if pace.value.isDone { task.cancel() }
    }
    let failed = try await done.futureResult.get()
    let after = ProcessClock.now()
    try await node.shutdown()
    try await group.shutdownGracefully()
    let cost = (after.cpu - before.cpu) * 1e6 / Double(calls)
    return SIPBenchReport.Load(
      rate: rate, calls: calls, failed: failed, cpuMicrosecondsPerCall: cost, callsPerSecondAndCore: 1e6 / cost)
  }

  private static func call(to path: SIPPath) -> OutgoingCall {
    let host = path.remote.host
    return OutgoingCall(
      target: SIPURI(scheme: .sip, user: "+46700000000", host: host, port: path.remote.port), paths: [path],
      identity: OutgoingIdentity(from: NameAddress(SIPURI(scheme: .sip, user: "+46701234567", host: host))),
      offer: MessageBody(sessionDescription: offer))
  }

  private static let offer = Array(
    """
    v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 7000 RTP/AVP 0\r\n\
    a=rtpmap:0 PCMU/8000\r\na=ptime:20\r\n
    """.utf8)
}

/// Which calls are due by the clock.
final class Pace {
  private let start: NIODeadline
  private let rate: Int
  private let calls: Int
  private var placed = 0

  init(start: NIODeadline, rate: Int, calls: Int) {
    self.start = start
    self.rate = rate
    self.calls = calls
  }

  var isDone: Bool { placed >= calls }

  func due(at now: NIODeadline) -> Range<UInt64> {
    let elapsed = Double((now - start).nanoseconds) / 1e9
    let target = min(calls, Int(elapsed * Double(rate)) + 1)
    defer { placed = max(placed, target) }
    return UInt64(placed)..<UInt64(max(placed, target))
  }
}

/// Hangs up every call as soon as it is up.
private final class Caller: SIPNodeDelegate {
  private var waiting: Int
  private var failed = 0
  private let done: EventLoopPromise<Int>

  /// - Parameter within: Calls that have not ended then count as failed.
  init(calls: Int, done: EventLoopPromise<Int>, within time: TimeAmount, on loop: any EventLoop) {
    waiting = calls
    self.done = done
    loop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      guard let self, waiting > 0 else { return }
      done.succeed(failed + waiting)
      waiting = 0
    }
  }

  func node(_ node: SIPNode, happened event: UserAgentEvent) {
    switch event {
    case .established(let call, _): node.execute(.hangUp(call, HangUp()))
    case .ended(_, let end):
      guard waiting > 0 else { return }
      if !end.wasEstablished { failed += 1 }
      waiting -= 1
      if waiting == 0 { done.succeed(failed) }
    default: break
    }
  }

  func node(_ node: SIPNode, met problem: TransportProblem) {}
}
