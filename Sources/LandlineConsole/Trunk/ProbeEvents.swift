import LandlineWire
import SIPCore

/// What a trunk test waits for, in one line whoever tells it.
enum ProbeEvent: Sendable {
  case question(DNSQuestion, DNSAnswer)
  case located(LocationResult)
  case agent(UserAgentEvent)
  case opened(StreamOpening)
  case problem(TransportProblem)
  case message([UInt8], SIPPath)
  /// Nobody listens at this UDP port.
  case refused(TransportAddress)
  /// The wait with this number is over.
  case deadline(Int)
}

/// A node's delegate that only passes on.
final class ProbeEvents: SIPNodeDelegate {
  private let sink: AsyncStream<ProbeEvent>.Continuation

  init(_ sink: AsyncStream<ProbeEvent>.Continuation) { self.sink = sink }

  func node(_ node: SIPNode, happened event: UserAgentEvent) { sink.yield(.agent(event)) }
  func node(_ node: SIPNode, met problem: TransportProblem) { sink.yield(.problem(problem)) }
  func node(_ node: SIPNode, opened stream: StreamOpening) { sink.yield(.opened(stream)) }
  func node(_ node: SIPNode, received message: [UInt8], from path: SIPPath) { sink.yield(.message(message, path)) }
}
