import CallModel
import Foundation
import NIOCore
import NIOPosix
import SDPCore
import SecureTransport

/// Calls in the shape of real ones through a gateway: each app on a port of its own, with ICE and DTLS, all of them at one
/// port of the gateway, if it has such a one; the trunk's side on one port, plain RTP. Both sides send 50 packets a second
/// with the time in them, which comes out untouched.
enum HandshakeLoad {
  private static let handshakeSeconds = 60.0

  /// Sets calls up, measures, and ends them. A trial that lost packets is done again: something else had the machine.
  static func measure(
    _ gateway: any MediaGatewayUnderTest, calls: Int, seconds: Double, attempts: Int = 3
  ) throws -> MediaTrial {
    let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? threads.syncShutdownGracefully() }
    let loop = threads.next()
    let load = try loop.submit { NIOLoopBound(try HandshakenCalls(on: loop), eventLoop: loop) }.wait()
    let trunk = try loop.flatSubmit { load.value.open() }.wait()
    for _ in 0..<calls {
      let offer = try loop.flatSubmit { load.value.offer() }.wait()
      let call = try gateway.call(offer, trunk: trunk)
      try loop.submit { try load.value.accept(call) }.wait()
    }
    try waitUntilSecured(load, calls: calls)
    try loop.submit { load.value.start() }.wait()
    var best: MediaTrial?
    for _ in 0..<attempts {
      let trial = try trial(load, gateway, calls: calls, seconds: seconds)
      if best.map({ trial.loss < $0.loss }) ?? true { best = trial }
      if trial.isCounted { break }
    }
    try loop.submit { load.value.close() }.wait()
    try gateway.tearDown()
    guard let best else { throw BenchProblem("nothing was measured") }
    return best
  }

  private static func waitUntilSecured(_ load: NIOLoopBound<HandshakenCalls>, calls: Int) throws {
    let end = ProcessClock.monotonicSeconds() + handshakeSeconds
    while true {
      let (secured, failure) = try load.eventLoop.submit { (load.value.secured, load.value.failure) }.wait()
      if let failure { throw BenchProblem("a call that shakes hands: \(failure)") }
      if secured == calls { return }
      guard ProcessClock.monotonicSeconds() < end else {
        throw BenchProblem("\(secured) of \(calls) calls have keys after \(Int(handshakeSeconds)) s")
      }
      usleep(20_000)
    }
  }

  private static func trial(
    _ load: NIOLoopBound<HandshakenCalls>, _ gateway: any MediaGatewayUnderTest, calls: Int, seconds: Double
  ) throws -> MediaTrial {
    func nanoseconds() -> Int { ProcessFigures.threadNanoseconds(gateway.processIdentifier).values.reduce(0, +) }
    usleep(UInt32(MediaLoad.settleSeconds * 1_000_000))
    let began = ProcessClock.monotonicSeconds()
    let before = nanoseconds()
    let first = try load.eventLoop.submit { load.value.takeFigures() }.wait().figures
    usleep(UInt32(seconds * 1_000_000))
    let spent = Double(nanoseconds() - before) / 1000
    let lasted = ProcessClock.monotonicSeconds() - began
    let (last, delays) = try load.eventLoop.submit { load.value.takeFigures() }.wait()
    func loss(_ sent: Int, _ received: Int) -> Double { sent > 0 ? max(0, 1 - Double(received) / Double(sent)) : 1 }
    let sent = (app: last.sentByApps - first.sentByApps, trunk: last.sentByTrunk - first.sentByTrunk)
    let sorted = delays.sorted()
    var trial = MediaTrial(
      calls: calls, cpuMicrosecondsPerCallSecond: spent / lasted / Double(calls),
      loss: max(
        loss(sent.app, last.receivedByTrunk - first.receivedByTrunk),
        loss(sent.trunk, last.receivedByApps - first.receivedByApps)), packets: sent.app + sent.trunk)
    trial.delay = MediaTrial.Delay(
      mean: sorted.reduce(0, +) / Double(max(1, sorted.count)), p99: sorted.percentile(0.99), most: sorted.last ?? 0)
    return trial
  }
}

/// The apps and the trunk of ``HandshakeLoad``. Belongs to its event loop.
final class HandshakenCalls: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  struct Figures: Sendable {
    var sentByApps = 0
    var sentByTrunk = 0
    var receivedByApps = 0
    var receivedByTrunk = 0
  }

  private struct Call {
    let leg: HandshakeLeg
    /// Where the trunk sends.
    let trunk: SocketAddress
    var sound = SoundPosition()
  }

  /// A packet comes every 20 ms, the calls spread evenly over this time.
  private static let slots = 20
  /// Milliseconds that a load that was late makes up for; more are left out.
  private static let mostLate = 100
  private static let payloadBytes = 80
  /// One CELT frame over the whole band (RFC 6716 section 3.1).
  private static let tableOfContents: UInt8 = 0xF8
  private static let headerBytes = 12
  /// The load must not be what is late.
  private static let niceness: Int32 = -18

  private let loop: any EventLoop
  private let side: HandshakeSide
  private let packet = PacketBuffer()
  private var context: ChannelHandlerContext?
  private var waiting: HandshakeLeg?
  private var calls: [Call] = []
  private(set) var secured = 0
  private(set) var failure: String?
  private var figures = Figures()
  /// Milliseconds of the packets since the last look.
  private var delays: [Double] = []
  private var ticks: RepeatedTask?
  private var startedAt = 0.0
  private var slot = 0

  init(on loop: any EventLoop) throws {
    self.loop = loop
    side = try HandshakeSide(on: loop)
    setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.niceness)
  }

  // MARK: Setting up

  /// Opens the trunk's port.
  func open() -> EventLoopFuture<UInt16> {
    let bound = NIOLoopBound(self, eventLoop: loop)
    return DatagramBootstrap(group: loop)
      .channelOption(.socketOption(.so_rcvbuf), value: 4_194_304)
      .channelOption(.datagramVectorReadMessageCount, value: 64)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
      }
      .bind(host: "127.0.0.1", port: 0)
      .map { UInt16(clamping: $0.localAddress?.port ?? 0) }
  }

  /// The offer of one more app.
  func offer() -> EventLoopFuture<String> {
    let promise = loop.makePromise(of: String.self)
    side.open(
      { [weak self] event in self?.told(event) },
      ready: { [weak self] leg in
        self?.waiting = leg
        promise.succeed(leg.offer)
      })
    return promise.futureResult
  }

  private func told(_ event: HandshakeLeg.Event) {
    switch event {
    case .secured: secured += 1
    case .failed(let problem): failure = failure ?? problem
    }
  }

  /// What the gateway says to the last offer.
  func accept(_ call: AnsweredCall) throws {
    guard let leg = waiting else { return }
    waiting = nil
    leg.heard = { [weak self] packet in
      self?.figures.receivedByApps += 1
      self?.arrived(packet.count) { packet.integer(at: $0, as: UInt64.self) }
    }
    calls.append(Call(leg: leg, trunk: try SocketAddress(ipAddress: "127.0.0.1", port: Int(call.trunkPort))))
    if let problem = leg.accept(answer: call.answer) { throw BenchProblem(problem) }
  }

  func close() {
    ticks?.cancel()
    for call in calls { call.leg.close() }
    context?.close(promise: nil)
  }

  // MARK: Sound

  func start() {
    startedAt = ProcessClock.monotonicSeconds()
    let bound = NIOLoopBound(self, eventLoop: loop)
    ticks = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(1)) { _ in bound.value.tick() }
  }

  private func tick() {
    let due = Int((ProcessClock.monotonicSeconds() - startedAt) * 1000)
    slot = max(slot, due - Self.mostLate)
    while slot < due {
      for index in stride(from: slot % Self.slots, to: calls.count, by: Self.slots) { send(index) }
      slot += 1
    }
    context?.flush()
  }

  private func send(_ index: Int) {
    let isSent = calls[index].leg.sendSound { sound, format, packet in sound.write(payload(), format, into: packet) }
    if isSent { figures.sentByApps += 1 }
    guard let context, let format = calls[index].leg.negotiation.plan?.audio.send else { return }
    calls[index].sound.write(payload(), format, into: packet)
    // The trunk's own number for Opus.
    packet[1] = CallDescription.opusNumber
    let data = context.channel.allocator.buffer(bytes: packet.bytes)
    context.write(
      wrapOutboundOut(AddressedEnvelope(remoteAddress: calls[index].trunk, data: data)), promise: nil)
    figures.sentByTrunk += 1
  }

  /// A frame of Opus, as far as a gateway looks, with the time behind its first byte.
  private func payload() -> [UInt8] {
    var bytes = [UInt8](repeating: 0x55, count: Self.payloadBytes)
    bytes[0] = Self.tableOfContents
    withUnsafeBytes(of: Self.nanoseconds().bigEndian) { time in
      for (place, byte) in time.enumerated() { bytes[1 + place] = byte }
    }
    return bytes
  }

  private static func nanoseconds() -> UInt64 { UInt64(ProcessClock.monotonicSeconds() * 1e9) }

  /// - Parameter time: Reads the stamp, in network order, at an offset of the packet.
  private func arrived(_ count: Int, _ time: (Int) -> UInt64) {
    guard count == Self.headerBytes + Self.payloadBytes else { return }
    delays.append(Double(Self.nanoseconds()) / 1e6 - Double(time(Self.headerBytes + 1)) / 1e6)
  }

  /// Counts since the start, and the delays since the last call of this.
  func takeFigures() -> (figures: Figures, delays: [Double]) {
    defer { delays.removeAll(keepingCapacity: true) }
    return (figures, delays)
  }

  // MARK: The trunk's port

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data).data
    // RTCP is no sound (RFC 5761 section 4).
    guard let type = bytes.getInteger(at: bytes.readerIndex + 1, as: UInt8.self), !(192...223).contains(type) else {
      return
    }
    figures.receivedByTrunk += 1
    arrived(bytes.readableBytes) { bytes.getInteger(at: bytes.readerIndex + $0, as: UInt64.self) ?? 0 }
  }
}
