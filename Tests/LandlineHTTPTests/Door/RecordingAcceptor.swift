import AppProtocol
import CallModel
import LandlineNode
import Synchronization

/// An acceptor that tells what it was told, and answers as the test wants.
final class RecordingAcceptor: AppConnectionAcceptor {
  enum Event: Equatable, Sendable {
    case opened(ConnectionID, host: SIPHost)
    case received(ConnectionID, String)
    case violated(ConnectionID, UInt16)
    case ponged(ConnectionID)
    case clogged(ConnectionID)
    case closed(ConnectionID)
  }

  private struct State {
    var connections: [ConnectionID: any AppConnection] = [:]
    var last: UInt64 = 0
    var opened = 0
    var closed = 0
  }

  let maximum: Int
  /// Whether a violation is answered with a close at once.
  let closesViolators: Bool
  private let state = Mutex(State())
  private let continuation: AsyncStream<Event>.Continuation
  let events: AsyncStream<Event>

  init(maximum: Int = .max, closesViolators: Bool = true) {
    self.maximum = maximum
    self.closesViolators = closesViolators
    (events, continuation) = AsyncStream.makeStream(of: Event.self)
  }

  func connection(_ id: ConnectionID) -> (any AppConnection)? { state.withLock { $0.connections[id] } }
  var counts: (opened: Int, closed: Int) { state.withLock { ($0.opened, $0.closed) } }

  func opened(_ connection: any AppConnection, host: SIPHost) -> ConnectionID? {
    let id: ConnectionID? = state.withLock { state in
      guard state.connections.count < maximum else { return nil }
      state.last += 1
      state.opened += 1
      let id = ConnectionID(state.last)
      state.connections[id] = connection
      return id
    }
    if let id { continuation.yield(.opened(id, host: host)) }
    return id
  }

  /// `echo …` is answered, and `too many` is not taken.
  func received(_ text: [UInt8], on connection: ConnectionID) -> Bool {
    guard !text.starts(with: Array("too many".utf8)) else { return false }
    continuation.yield(.received(connection, String(decoding: text, as: UTF8.self)))
    if text.starts(with: Array("echo ".utf8)) { self.connection(connection)?.send([Array(text.dropFirst(5))]) }
    return true
  }

  func violated(_ connection: ConnectionID, closeCode: UInt16, _ problem: String) {
    continuation.yield(.violated(connection, closeCode))
    if closesViolators { self.connection(connection)?.close(code: closeCode, reason: problem) }
  }

  func ponged(_ connection: ConnectionID) { continuation.yield(.ponged(connection)) }
  func clogged(_ connection: ConnectionID) {
    continuation.yield(.clogged(connection))
    self.connection(connection)?.close(code: 1008, reason: "reads too slowly")
  }

  func closed(_ connection: ConnectionID) {
    state.withLock { state in
      state.connections[connection] = nil
      state.closed += 1
    }
    continuation.yield(.closed(connection))
  }
}
