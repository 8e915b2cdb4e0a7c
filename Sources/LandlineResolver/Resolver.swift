import CLandlineCares
import CallModel
import Dispatch
import Foundation
import Glibc
public import SIPCore
import Synchronization

/// Locates SIP URIs (RFC 3263) by asking DNS on a thread of its own, with a cache that all questions share.
///
/// ```
/// let resolver = try Resolver()
/// resolver.locate(uri, policy: LocationPolicy(listeners: listeners)) { result in
///   loop.execute { agent.handle(.located(id, result.paths(from: listeners)), …) }
/// }
/// ```
public final class Resolver: Sendable {
  /// What the resolver has done so far.
  public struct Counts: Hashable, Sendable {
    /// Locations begun.
    public var locations = 0
    /// Questions sent to name servers.
    public var questions = 0
    /// Questions that the cache answered.
    public var cacheHits = 0
  }

  private let inbox: ResolverInbox
  private let finished = DispatchSemaphore(value: 0)
  private let start = Start()

  /// Starts the thread.
  /// - Throws: ``ResolverError`` where the system or the servers of the configuration do not allow it.
  public init(_ configuration: ResolverConfiguration = .standard) throws(ResolverError) {
    let inbox = try ResolverInbox(limit: configuration.locations)
    self.inbox = inbox
    let thread = Thread { [start, finished] in
      do throws(ResolverError) {
        let loop = try ResolverLoop(configuration, inbox: inbox)
        start.tell(nil)
        loop.run()
      } catch {
        start.tell(error)
      }
      finished.signal()
    }
    thread.name = "resolver"
    thread.start()
    if let error = start.wait() { throw error }
  }

  /// Lets the thread end by itself; ``shutDown()`` waits for it.
  deinit { inbox.close() }

  /// Finds where a URI lives.
  /// - Parameters:
  ///   - observer: Told of every question and its answer, those of the cache and the hosts file included, in order and
  ///     before `answer`, on the resolver's thread.
  ///   - answer: Called once, on the resolver's thread, which must not be held up; on the caller's where there is
  ///     nothing to ask, for the host is a number, and where the request is refused at once (``LocationFailure/Kind/tooManyQuestions``, ``LocationFailure/Kind/shutDown``).
  public func locate(
    _ uri: SIPURI, policy: LocationPolicy, observer: (@Sendable (DNSQuestion, DNSAnswer) -> Void)? = nil,
    then answer: @escaping @Sendable (LocationResult) -> Void
  ) {
    if let result = resultWithoutQuestions(uri, policy), inbox.countAtOnce() { return answer(result) }
    let request = ResolverInbox.Request(uri: uri, policy: policy, observer: observer, answer: answer)
    guard let refusal = inbox.add(request) else { return }
    answer(.failed(LocationFailure(refusal, uri.host.map(\.description) ?? uri.scheme.rawValue)))
  }

  private func resultWithoutQuestions(_ uri: SIPURI, _ policy: LocationPolicy) -> LocationResult? {
    switch uri.host {
    case .name, nil: return nil
    case .ipv4, .ipv6:
      var machine = LocationMachine(uri, policy: policy, identifiers: .system)
      var effects: [LocationEffect] = []
      machine.start(into: &effects)
      guard case .finished(let result)? = effects.first else { return nil }
      return result
    }
  }

  /// Ends the thread and waits for it; whatever waits is answered with ``LocationFailure/Kind/shutDown`` first. Again
  /// is harmless. From inside an answer it only asks the thread to end.
  public func shutDown() {
    inbox.close()
    guard !start.isOnThread else { return }
    finished.wait()
    // The next caller finds it finished too.
    finished.signal()
  }

  /// As they stood when the last location ended.
  public var counts: Counts { inbox.counts }

  /// As the library names itself.
  public static var libraryVersion: String { String(cString: ares_version(nil)) }

  /// How the thread says which one it is and whether it could begin.
  private final class Start: Sendable {
    private let state = Mutex<(thread: pthread_t?, error: ResolverError?)>((nil, nil))
    private let told = DispatchSemaphore(value: 0)

    func tell(_ error: ResolverError?) {
      state.withLock { $0 = (pthread_self(), error) }
      told.signal()
    }

    func wait() -> ResolverError? {
      told.wait()
      return state.withLock { $0.error }
    }

    var isOnThread: Bool {
      state.withLock { state in state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }
  }
}
