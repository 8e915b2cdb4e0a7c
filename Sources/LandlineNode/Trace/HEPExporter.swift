import CallModel
import CallStory
import LandlineConfiguration
import LandlineWire
import Logging
import NIOCore
import NIOPosix

/// Sends copies of the messages of calls, and figures of their sound, to a collector. What it cannot take is dropped and
/// counted: a call never waits for it. Used on the hub's loop.
final class HEPExporter {
  /// Packets on their way to the kernel; above, they are dropped.
  static let maximumPending = 1024
  /// Seconds of sound between two reports of one side.
  static let reportSeconds = 5

  private let channel: any Channel
  private let settings: HEPConfiguration
  private let node: String
  private let log: Logger
  private var pending = 0
  private(set) var dropped: UInt64 = 0
  private var seconds: [CallID: Int] = [:]

  private init(_ settings: HEPConfiguration, node: String, _ channel: any Channel, log: Logger) {
    self.settings = settings
    self.node = node
    self.channel = channel
    self.log = log
  }

  /// - Throws: what the socket throws.
  static func open(
    _ settings: HEPConfiguration, node: String, on eventLoop: any EventLoop, log: Logger
  ) async throws -> NIOLoopBound<HEPExporter> {
    let remote = try SocketAddress(
      ipAddress: "\(settings.host)".trimmingBrackets, port: Int(settings.port))
    let channel = try await DatagramBootstrap(group: eventLoop).connect(to: remote).get()
    return try await eventLoop.submit {
      NIOLoopBound(HEPExporter(settings, node: node, channel, log: log), eventLoop: eventLoop)
    }.get()
  }

  func close() { channel.close(promise: nil) }

  func send(_ message: CallTrace.Message, startedAt: Int64, of call: CallID) {
    send(
      HEP3Packet(
        message, startedAt: startedAt, agent: settings.captureID, password: settings.password?.exposed, node: node,
        correlationID: call.text))
  }

  /// Every few seconds: what both directions of a leg were like.
  func send(_ second: CallTrace.Second, startedAt: Int64, _ way: MediaWay, of call: CallID) {
    let count = seconds[call, default: 0]
    seconds[call] = count + 1
    // Both sides tell once a second.
    guard (count / 2) % Self.reportSeconds == Self.reportSeconds - 1 else { return }
    send(
      HEP3Packet(
        second, startedAt: startedAt, clockRate: way.clockRate, source: "", destination: way.remote,
        agent: settings.captureID, password: settings.password?.exposed, node: node, correlationID: call.text))
  }

  /// Where the sound of a leg goes, and the ticks of its codec in a second.
  struct MediaWay {
    var clockRate = 8000
    var remote = ""
  }

  func forget(_ call: CallID) { seconds[call] = nil }

  private func send(_ packet: HEP3Packet) {
    guard pending < Self.maximumPending else {
      dropped += 1
      if dropped == 1 { log.warning("the HEP collector's packets are dropped: too many wait") }
      return
    }
    pending += 1
    let written = channel.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
    // A collector that is not there refuses; the call goes on.
    written.futureResult.whenComplete { _ in bound.value.pending -= 1 }
    channel.writeAndFlush(ByteBuffer(bytes: packet.bytes), promise: written)
  }
}

extension String {
  /// An IPv6 address without the brackets of a URI.
  fileprivate var trimmingBrackets: String {
    hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
  }
}
