public import CallModel
public import MediaCore
package import SecureTransport

extension MediaBridge: LoopBridge {
  package static func userFragment(in packet: PacketBuffer) -> String? { STUNMessage.userFragment(in: packet) }
}

/// One media thread with its sockets and bridges: a shard. Commands may come from any thread and are carried out in the
/// order in which one thread gives them; packets never leave the shard.
///
/// All a call holds here is noted under its bridge's identifier, and ``close(_:)`` gives it back, whatever had been done:
/// reserved, routed, opened. ``MediaEvent/closed`` then comes once, as the last of its events.
///
/// Whoever gives several commands in a row passes `wakes: false` and calls ``wake()`` after the last.
///
/// Methods that return `Bool` return `false` when ``MediaLoopConfiguration/waitingCommands`` are waiting or the loop has
/// ended: the command is not carried out and its reply is not called. Replies are called on the media thread, which they
/// must leave at once.
public final class MediaLoop: Sendable {
  /// Called on the media thread, unless the command was not taken.
  public typealias Reply<Success> = @Sendable (Result<Success, MediaLoopFailure>) -> Void

  private let thread: LoopThread<MediaBridge>

  private init(_ thread: LoopThread<MediaBridge>) { self.thread = thread }

  /// Opens the app ports and starts the thread.
  ///
  /// - Parameters:
  ///   - name: Of the thread, for tools of the system; at most 15 characters count.
  ///   - deliver: Called on the media thread with what the bridges tell, in order, once a turn of the loop at most.
  /// - Throws: What cannot be opened, and what would be accepted.
  public static func start(
    _ configuration: MediaLoopConfiguration, name: String = "media",
    deliver: @escaping @Sendable ([MediaLoopEvent]) -> Void
  ) throws(InvalidValue) -> MediaLoop {
    MediaLoop(try LoopThread(configuration, name: name, deliver: deliver))
  }

  /// In the order of ``MediaLoopConfiguration/app``.
  public var appPorts: [AppPort] { thread.appPorts }

  /// Holds a pair of ports for a call, before or after its bridge is opened.
  ///
  /// - Parameters:
  ///   - leg: Of the call's bridge: datagrams on these ports are for that leg.
  ///   - interface: A place in ``MediaLoopConfiguration/trunk``.
  ///   - control: Whether RTCP gets a port of its own.
  public func reserveTrunkPorts(
    for identifier: MediaBridge.Identifier, _ leg: LegID, interface: Int = 0, control: Bool = true,
    wakes: Bool = true, reply: @escaping Reply<TrunkPorts>
  ) -> Bool {
    thread.post(
      .reserveTrunkPorts(identifier, leg, interface: interface, control: control, reply: reply), wakes: wakes)
  }

  /// Gives ports back before the call ends: those of an attempt that failed. Always taken while the loop runs.
  @discardableResult
  public func releaseTrunkPorts(_ ports: TrunkPorts, of identifier: MediaBridge.Identifier) -> Bool {
    thread.post(.releaseTrunkPorts(identifier, ports))
  }

  /// Makes a bridge with the legs that are known by now; packets reach it from then on.
  public func open(
    _ identifier: MediaBridge.Identifier, _ legs: [LegID: MediaLegConfiguration], reply: @escaping Reply<Void>
  ) -> Bool {
    thread.post(
      .open(
        identifier,
        make: { workspace, now in
          let bridge = MediaBridge(identifier, workspace: workspace, at: now)
          for (id, leg) in legs { bridge.attach(id, leg, at: now) }
          return bridge
        }, reply: reply))
  }

  /// Gives an open bridge another leg; one that it has already stays as it is, and a call that has ended meanwhile is no
  /// error.
  /// - Parameter isApart: It shakes hands and waits for ``MediaCommand/join(_:)``.
  public func attach(
    _ leg: LegID, _ configuration: MediaLegConfiguration, isApart: Bool = false,
    to identifier: MediaBridge.Identifier, wakes: Bool = true
  ) -> Bool {
    thread.post(
      .work(identifier) { $0.attach(leg, configuration, isApart: isApart, at: $1) }, wakes: wakes)
  }

  /// STUN for this user fragment of ours goes to the leg. Before its offer or answer leaves.
  public func route(userFragment: String, to identifier: MediaBridge.Identifier, _ leg: LegID, wakes: Bool = true)
    -> Bool
  {
    thread.post(.route(identifier, leg, userFragment: userFragment), wakes: wakes)
  }

  /// Tells a bridge; a call that has ended meanwhile is no error.
  public func apply(_ command: MediaCommand, to identifier: MediaBridge.Identifier, wakes: Bool = true) -> Bool {
    thread.post(.apply(identifier, command), wakes: wakes)
  }

  /// Ends a call and gives back what it holds. Always taken while the loop runs.
  @discardableResult
  public func close(_ identifier: MediaBridge.Identifier, wakes: Bool = true) -> Bool {
    thread.post(.close(identifier), wakes: wakes)
  }

  /// Whether the thread has more to do than it can, and work that goes on for long had better not come to it.
  public var isFull: Bool { thread.isFull }

  /// Wakes the thread where commands wait that were given with `wakes: false`.
  public func wake() { thread.wake() }

  /// What the loop has done, and what it holds.
  public func inspect(_ reply: @escaping @Sendable (MediaLoopStatistics, MediaLoopHoldings) -> Void) -> Bool {
    thread.post(.inspect(reply))
  }

  /// Closes every bridge, socket and descriptor, and ends the thread. A loop that nobody holds does so by itself.
  ///
  /// - Parameter reply: Called last, with what is left: nothing.
  @discardableResult
  public func shutDown(_ reply: @escaping @Sendable (MediaLoopHoldings) -> Void) -> Bool {
    thread.post(.shutDown(reply))
  }
}
