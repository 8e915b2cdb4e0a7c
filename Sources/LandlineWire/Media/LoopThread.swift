import CLandlineSockets
package import CallModel
import MediaCore

/// A shard on a thread of its own, and the way to it.
package final class LoopThread<Bridge: LoopBridge>: Sendable {
  package let appPorts: [AppPort]
  private let gauge = LoopGauge()
  private let mailbox: LoopMailbox<LoopCommand<Bridge>>

  package init(
    _ configuration: MediaLoopConfiguration, name: String, deliver: @escaping @Sendable ([MediaLoopEvent]) -> Void
  ) throws(InvalidValue) {
    mailbox = try LoopMailbox(capacity: configuration.waitingCommands)
    let shard = try MediaShard(configuration, mailbox: mailbox, gauge: gauge, deliver: deliver)
    appPorts = shard.appPorts
    try startThread(name) { shard.run() }
  }

  deinit { _ = mailbox.post(.shutDown { _ in }, isAlwaysTaken: true) }

  /// - Parameter wakes: `false` where the sender has more, and calls ``wake()`` after the last.
  /// - Returns: `false` when too many commands wait, or the loop has ended; then nothing is replied.
  package func post(_ command: LoopCommand<Bridge>, wakes: Bool = true) -> Bool {
    switch command {
    case .close, .releaseTrunkPorts, .apply(_, .close), .shutDown:
      mailbox.post(command, isAlwaysTaken: true, wakes: wakes)
    case .reserveTrunkPorts, .open, .route, .apply, .work, .inspect: mailbox.post(command, wakes: wakes)
    }
  }

  package func wake() { mailbox.wake() }

  package var isFull: Bool { gauge.isFull(at: landline_monotonic_nanoseconds() / 1000) }
}

/// Runs `body` once on a new thread, which has it for itself from then on: what it holds may be bound to one thread.
private func startThread(_ name: String, _ body: @escaping () -> Void) throws(InvalidValue) {
  final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  let start = Unmanaged.passRetained(Start(body))
  let result = landline_thread_start(
    name,
    { argument in
      guard let argument else { return }
      Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
    }, start.toOpaque())
  guard result == 0 else {
    start.release()
    throw .media("media.thread", "no thread for media: \(reason(-result))", accepted: "a higher limit of threads")
  }
}
