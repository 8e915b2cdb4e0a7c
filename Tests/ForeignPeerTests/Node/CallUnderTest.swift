import CallModel
import PeerKit
import SIPCore

/// One call of a node under test: waits for what it reports, and steers it.
struct CallUnderTest: Sendable {
  let node: NodeUnderTest
  let handle: CallHandle

  func progress(_ status: Int, within seconds: Double = 20) async throws -> Progress {
    try await node.event("\(status)", within: seconds) {
      if case .progress(handle, let progress) = $0, progress.status == status { return progress }
      return nil
    }
  }

  /// All provisional responses so far.
  var provisionals: [Progress] {
    node.events().compactMap {
      if case .progress(handle, let progress) = $0 { return progress }
      return nil
    }
  }

  @discardableResult
  func established(within seconds: Double = 20) async throws -> Answer {
    try await node.event("answer", within: seconds) {
      if case .established(handle, let answer) = $0 { return answer }
      return nil
    }
  }

  var timesEstablished: Int {
    node.events().count {
      if case .established(handle, _) = $0 { return true }
      return false
    }
  }

  func ended(within seconds: Double = 20) async throws -> CallEnd {
    try await node.event("end of the call", within: seconds) {
      if case .ended(handle, let end) = $0 { return end }
      return nil
    }
  }

  /// The offers of the peer inside the call so far.
  var offers: [(ExchangeID, MessageBody?)] {
    node.events().compactMap {
      if case .offered(handle, let exchange, let body) = $0 { return (exchange, body) }
      return nil
    }
  }

  func offered(_ number: Int = 1, within seconds: Double = 20) async throws -> (ExchangeID, MessageBody?) {
    try await Deadline(seconds: seconds).first("offer \(number) of the peer; the node said: \(node.summary)") {
      offers.count >= number ? offers[number - 1] : nil
    }
  }

  /// Offers inside the call and waits for what the peer says.
  /// - Returns: the answer; `nil` when it refused.
  func offer(_ body: MessageBody, within seconds: Double = 20) async throws -> MessageBody? {
    let exchange = propose(body)
    return try await node.event("answer to an offer", within: seconds) { event -> MessageBody?? in
      switch event {
      case .answered(handle, exchange, let answer): .some(.some(answer))
      case .offerRefused(handle, exchange, _): .some(.none)
      default: nil
      }
    }
  }

  @discardableResult
  func propose(_ body: MessageBody) -> ExchangeID {
    // Numbers of the agent's own count up from below.
    let exchange = ExchangeID(1 << 40 | node.nextNumber())
    node.execute(.offer(handle, exchange, body))
    return exchange
  }

  func ring(_ status: Int = 180, body: MessageBody? = nil, headers: CustomHeaders = CustomHeaders()) {
    node.execute(.ring(handle, status: status, body: body, headers: headers))
  }

  func accept(_ body: MessageBody? = SessionText.body(), headers: CustomHeaders = CustomHeaders()) {
    node.execute(.accept(handle, body: body, headers: headers))
  }

  func reject(_ rejection: Rejection) { node.execute(.reject(handle, rejection)) }
  func hangUp(_ hangUp: HangUp = HangUp()) { node.execute(.hangUp(handle, hangUp)) }
}

/// - Throws: ``PeerFailure`` that says what was expected.
func require(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
  guard condition else { throw PeerFailure("not so: \(expectation())") }
}
