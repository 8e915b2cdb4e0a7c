import AppProtocol
import CallModel
import NIOCore

/// An app whose connection may be lost at any time and is taken up again. Belongs to its event loop.
final class SoakSession {
  /// Replies and events, and what became of calls that the session could not keep.
  var happened: ((AppSessionClientEffect) -> Void)?
  private(set) var drops = 0

  private let loop: any EventLoop
  private let port: UInt16
  private let client: AppSessionClient
  private var socket: AppSocket?
  private var wakeUp: Scheduled<Void>?
  private var hasStood = false
  private let ready: EventLoopPromise<Void>

  init(port: UInt16, on loop: any EventLoop) {
    self.loop = loop
    self.port = port
    ready = loop.makePromise()
    var configuration = AppSessionClient.Configuration(client: "landline-soak")
    configuration.maximumPending = 4096
    // A gateway under a sanitizer takes its time.
    configuration.replyMilliseconds = 60_000
    configuration.connectMilliseconds = 30_000
    configuration.pongMilliseconds = 30_000
    client = AppSessionClient(configuration) {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }

  var isReady: Bool { client.state == .ready }

  /// Registers as user `bench-NUMBER`.
  func start(_ number: Int) -> EventLoopFuture<Void> {
    guard let registration = BenchApp.registration(number) else {
      return loop.makeFailedFuture(BenchProblem("the libcrypto of this machine has no SHA-1"))
    }
    handle(.start(registration))
    return ready.futureResult
  }

  /// - Returns: `nil` while no session stands.
  func send(_ request: AppRequest) -> RequestNumber? {
    var effects: [AppSessionClientEffect] = []
    let number = client.send(request, at: HandshakeSide.now(), into: &effects)
    perform(effects)
    return number
  }

  /// Breaks the connection, as a network that goes away would.
  func drop() {
    guard let socket else { return }
    drops += 1
    socket.drop()
  }

  func stop() {
    handle(.stop)
    wakeUp?.cancel()
    wakeUp = nil
  }

  private func handle(_ input: AppSessionClientInput) {
    var effects: [AppSessionClientEffect] = []
    client.handle(input, at: HandshakeSide.now(), into: &effects)
    perform(effects)
  }

  private func perform(_ effects: [AppSessionClientEffect]) {
    for effect in effects {
      switch effect {
      case .connect(let id): connect(id)
      case .send(_, let text): socket?.send(text)
      case .close: socket?.drop()
      case .state(let state): entered(state)
      case .event, .lost: happened?(effect)
      // Its sequence comes from a clock, and nobody else registers its user: one that is passed ends the session.
      case .signAgain: handle(.stop)
      case .keep, .draining: break
      }
    }
    schedule()
  }

  private func entered(_ state: AppSessionClient.State) {
    switch state {
    case .ready where !hasStood:
      hasStood = true
      ready.succeed(())
    case .ended(let failure) where !hasStood:
      hasStood = true
      ready.fail(BenchProblem("the registration was refused: \(failure.map { "\($0.code)" } ?? "no reason")"))
    default: break
    }
  }

  private func connect(_ id: ConnectionID) {
    let session = NIOLoopBound(self, eventLoop: loop)
    AppSocket.connect(port: port, on: loop).whenComplete { result in
      switch result {
      case .success(let socket): session.value.opened(id, socket.value)
      case .failure: session.value.handle(.closed(id, code: nil))
      }
    }
  }

  private func opened(_ id: ConnectionID, _ socket: AppSocket) {
    self.socket = socket
    socket.received = { [weak self] in self?.handle(.text(id, $0)) }
    socket.closed = { [weak self] code, _ in self?.handle(.closed(id, code: code)) }
    handle(.opened(id))
  }

  private func schedule() {
    wakeUp?.cancel()
    wakeUp = nil
    guard let due = client.nextDeadline else { return }
    let wait = max(0, due.microseconds(since: HandshakeSide.now()))
    wakeUp = loop.assumeIsolated().scheduleTask(in: .microseconds(wait)) { [weak self] in
      guard let self else { return }
      var effects: [AppSessionClientEffect] = []
      client.advance(to: HandshakeSide.now(), into: &effects)
      perform(effects)
    }
  }
}
