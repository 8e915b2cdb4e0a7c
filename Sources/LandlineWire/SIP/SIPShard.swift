import CallModel
import NIOCore
import SIPCore

/// What a ``SIPNode`` keeps on its loop.
final class SIPShard: SIPTransportsDelegate {
  private enum Input {
    case message([UInt8], SIPPath)
    case command(UserAgentCommand)
    case failed(TransactionID)
    case deadline
  }

  private let transports: SIPTransports
  private let agent: UserAgent
  private let locator: any SIPLocator
  private let eventLoop: any EventLoop
  private var node: SIPNode?
  private var delegate: (any SIPNodeDelegate)?

  /// What came up while an input was handled: failures of its effects, and commands of the delegate.
  private var inputs = CircularBuffer<Input>()
  private var effects: [UserAgentEffect] = []
  private var isRunning = false
  /// Milliseconds that fit the loop's nanoseconds.
  private static let farthest = Int64.max / 1_000_000
  private var wakeUp: (at: MonotonicInstant, task: Scheduled<Void>)?

  init(
    _ agent: UserAgentConfiguration, _ transports: SIPTransports, identifiers: IdentifierSource,
    locator: any SIPLocator
  ) {
    self.transports = transports
    self.locator = locator
    eventLoop = transports.eventLoop
    self.agent = UserAgent(agent, identifiers: identifiers)
  }

  func start(_ node: SIPNode, _ delegate: any SIPNodeDelegate) {
    self.node = node
    self.delegate = delegate
    transports.delegate = self
  }

  func shutdown() -> EventLoopFuture<Void> {
    wakeUp?.task.cancel()
    wakeUp = nil
    let closed = transports.shutdown()
    // The node holds this, and this the node, for as long as there are sockets.
    node = nil
    delegate = nil
    return closed
  }

  var holdings: [String: Int] { agent.holdings }
  var counters: UserAgentCounters { agent.counters }

  func handle(_ command: UserAgentCommand) { process(.command(command)) }
  func received(_ bytes: [UInt8], from path: SIPPath) {
    if let node { delegate?.node(node, received: bytes, from: path) }
    process(.message(bytes, path))
  }
  func failed(_ transaction: TransactionID) { process(.failed(transaction)) }
  func knows(_ host: SIPHost) -> Bool { agent.knows(host) }

  func opened(_ stream: StreamOpening) {
    guard let node else { return }
    delegate?.node(node, opened: stream)
  }

  func report(_ problem: TransportProblem) {
    guard let node else { return }
    delegate?.node(node, met: problem)
  }

  /// Handles one input after the other, each with all its effects.
  private func process(_ input: Input) {
    inputs.append(input)
    guard !isRunning else { return }
    isRunning = true
    while let input = inputs.popFirst(), node != nil {
      handle(input)
      perform()
    }
    inputs.removeAll(keepingCapacity: true)
    isRunning = false
    transports.flush()
    schedule()
  }

  private func handle(_ input: Input) {
    let now = transports.now
    switch input {
    case .message(let bytes, let path):
      let message = agent.receive(bytes, from: path, at: now, into: &effects)
      if message.isOfStranger { transports.ignoreStranger(on: path) }
    case .command(let command): agent.handle(command, at: now, into: &effects)
    case .failed(let transaction): agent.transportFailed(transaction, at: now, into: &effects)
    case .deadline: agent.advance(to: now, into: &effects)
    }
  }

  private func perform() {
    for effect in effects {
      switch effect {
      case .send(let bytes, let path, let message):
        if let node { delegate?.node(node, sends: bytes, on: path) }
        transports.send(bytes, on: path, for: message.transaction)
      case .locate(let location, let uri): locate(location, uri)
      case .event(let event):
        if let node { delegate?.node(node, happened: event) }
      }
    }
    effects.removeAll(keepingCapacity: true)
  }

  private func locate(_ location: LocationID, _ uri: SIPURI) {
    guard let node else { return }
    locator.locate(uri, over: node.advertisedAddresses) { [weak node] paths in node?.execute(.located(location, paths))
    }
  }

  /// Keeps exactly one wake-up, never later than the agent's next deadline. One that is earlier is left alone: it finds
  /// nothing due and makes the right one.
  private func schedule() {
    guard node != nil, let deadline = agent.nextDeadline else { return }
    if let wakeUp, wakeUp.at <= deadline { return }
    wakeUp?.task.cancel()
    // Never in the past, so that a deadline that stays due cannot starve the loop.
    let at = max(deadline, transports.now.advanced(byMilliseconds: 1))
    let time = NIODeadline.uptimeNanoseconds(0) + .milliseconds(min(at.milliseconds, SIPShard.farthest))
    let task = eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
      self?.wakeUp = nil
      self?.process(.deadline)
    }
    wakeUp = (at, task)
  }
}
