import LandlineNode
import NIOCore

/// The hub's hand on one WebSocket: may be used from any thread.
final class WebSocketConnection: AppConnection {
  private let loop: any EventLoop
  private let handler: NIOLoopBound<WebSocketHandler>
  private let budget: OutgoingBudget

  /// - Parameter loop: of the connection; this runs on it.
  init(_ handler: WebSocketHandler, on loop: any EventLoop) {
    self.loop = loop
    self.handler = NIOLoopBound(handler, eventLoop: loop)
    budget = handler.budget
  }

  func send(_ texts: [[UInt8]]) {
    var clogs = false
    let admitted = texts.prefix { text in
      switch budget.admit(text.count) {
      case .admitted: return true
      case .clogs:
        clogs = true
        return false
      case .refused: return false
      }
    }
    if !admitted.isEmpty { onLoop { $0.send(admitted) } }
    if clogs { onLoop { $0.clog() } }
  }

  func ping() { onLoop { $0.ping() } }

  func close(code: UInt16, reason: String) { onLoop { $0.close(code: code, reason: reason) } }

  private func onLoop(_ body: @escaping @Sendable (WebSocketHandler) -> Void) {
    if loop.inEventLoop {
      body(handler.value)
    } else {
      let handler = handler
      loop.execute { body(handler.value) }
    }
  }
}
