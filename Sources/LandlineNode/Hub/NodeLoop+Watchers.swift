import CallEngine
import NIOCore
import NodeCore

// MARK: - Who waits for something, and who watches calls

extension NodeLoop {
  struct Waiter {
    let isDone: (NodeLoop) -> Bool
    let promise: EventLoopPromise<Void>
  }

  /// No call is left, and no sound of one.
  var isIdle: Bool { core.isIdle && media.callCount == 0 }

  /// Done when something holds, or when the time is over.
  func when(
    _ isDone: @escaping (NodeLoop) -> Bool, within milliseconds: Int64
  ) -> EventLoopFuture<Void> {
    if isDone(self) { return eventLoop.makeSucceededVoidFuture() }
    let promise = eventLoop.makePromise(of: Void.self)
    waiters.append(Waiter(isDone: isDone, promise: promise))
    let end = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) { promise.succeed(()) }
    return promise.futureResult.always { _ in end.cancel() }
  }

  func completeWaiters() {
    guard !waiters.isEmpty else { return }
    for waiter in waiters where waiter.isDone(self) { waiter.promise.succeed(()) }
    waiters.removeAll { $0.isDone(self) }
  }

  func watch() -> AsyncStream<CallSnapshot> {
    let number = nextWatcher
    nextWatcher += 1
    let (stream, continuation) = AsyncStream.makeStream(
      of: CallSnapshot.self, bufferingPolicy: .bufferingNewest(CallHub.watchedChanges))
    guard !isStopped else {
      continuation.finish()
      return stream
    }
    watchers[number] = continuation
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    continuation.onTermination = { _ in bound.eventLoop.execute { bound.value.watchers[number] = nil } }
    return stream
  }

  func endWatchers() {
    for watcher in watchers.values { watcher.finish() }
    watchers = [:]
  }
}
