package import CallModel
package import MediaCore

/// What other threads ask of a loop. Replies are called on the loop's thread, once, and must not wait.
package enum LoopCommand<Bridge: LoopBridge>: Sendable {
  package typealias Identifier = MediaBridge.Identifier
  package typealias Reply<Success> = @Sendable (Result<Success, MediaLoopFailure>) -> Void

  case reserveTrunkPorts(Identifier, LegID, interface: Int, control: Bool, reply: Reply<TrunkPorts>)
  case releaseTrunkPorts(Identifier, TrunkPorts)
  case open(Identifier, make: @Sendable (MediaWorkspace, MonotonicInstant) throws -> Bridge, reply: Reply<Void>)
  case route(Identifier, LegID, userFragment: String)
  case work(Identifier, @Sendable (Bridge, MonotonicInstant) -> Void)
  case apply(Identifier, MediaCommand)
  case close(Identifier)
  case inspect(@Sendable (MediaLoopStatistics, MediaLoopHoldings) -> Void)
  case shutDown(@Sendable (MediaLoopHoldings) -> Void)
}
