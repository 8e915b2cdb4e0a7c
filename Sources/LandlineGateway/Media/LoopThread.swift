package import CallModel
package import MediaCore
import CLandlineSockets
import Glibc

/// A shard on a thread of its own, and the way to it.
package final class LoopThread<Bridge: LoopBridge>: Sendable {
  package let appPorts: [AppPort]
  private let mailbox: LoopMailbox<LoopCommand<Bridge>>

  package init(
    _ configuration: MediaLoopConfiguration, name: String, deliver: @escaping @Sendable ([MediaLoopEvent]) -> Void
  ) throws(InvalidValue) {
    mailbox = try LoopMailbox(capacity: configuration.waitingCommands)
    let shard = try MediaShard(configuration, mailbox: mailbox, deliver: deliver)
    appPorts = shard.appPorts
    try Start(shard, name).run()
  }

  deinit { _ = mailbox.post(.shutDown { _ in }, isAlwaysTaken: true) }

  /// - Returns: `false` when too many commands wait, or the loop has ended; then nothing is replied.
  package func post(_ command: LoopCommand<Bridge>) -> Bool {
    switch command {
    case .close, .releaseTrunkPorts, .apply(_, .close), .shutDown: mailbox.post(command, isAlwaysTaken: true)
    case .reserveTrunkPorts, .open, .route, .apply, .inspect: mailbox.post(command)
    }
  }

  /// Carries a shard to its thread. The thread that made it lets go of it before the other begins.
  private final class Start {
    private let shard: MediaShard<Bridge>
    private let name: String

    init(_ shard: MediaShard<Bridge>, _ name: String) {
      self.shard = shard
      self.name = name
    }

    func run() throws(InvalidValue) {
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
      let held = Unmanaged.passRetained(self as AnyObject)
      var thread = pthread_t()
      let result = pthread_create(&thread, &attributes, { argument in
        guard let argument else { return nil }
        (Unmanaged<AnyObject>.fromOpaque(argument).takeRetainedValue() as? any LoopStart)?.begin()
        return nil
      }, held.toOpaque())
      guard result == 0 else {
        held.release()
        throw .media("media.thread", "no thread for media: \(reason(result))", accepted: "a higher limit of threads")
      }
    }
  }
}
