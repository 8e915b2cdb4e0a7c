import AppProtocol
import CallModel
import MediaCore

/// Tells what a call of the far end's own comes to.
final class FarEndReport: Sendable {
  private let begin = NodeClock.now()
  private let steps: AsyncStream<InboundCallStep>.Continuation

  init(_ steps: AsyncStream<InboundCallStep>.Continuation) { self.steps = steps }

  func send(_ event: InboundCallStep.Event) {
    steps.yield(
      InboundCallStep(milliseconds: NodeClock.now().microseconds(since: begin) / 1000, event))
  }

  /// The call's bridge tells something; its end is the last of all.
  func heard(_ event: MediaEvent) {
    switch event {
    case .firstMedia: send(.sound)
    case .statistics(_, let figures): send(.quality(CallQuality(figures)))
    case .recorded(let bytes): send(.recorded(bytes))
    case .recordingEnded(let patches):
      send(.recordingEnded(patches.map { InboundCallStep.Patch(offset: $0.offset, bytes: $0.bytes) }))
    case .closed: finish()
    default: break
    }
  }

  func finish() { steps.finish() }
}

extension CallQuality {
  /// As a side of the call sees it; what was not measured is left out.
  fileprivate init(_ figures: MediaStatistics) {
    func direction(_ figures: MediaStatistics.Direction) -> Direction {
      guard figures.meanOpinionScore > 0 else {
        return Direction(meanOpinionScore: nil, jitter: nil, loss: nil, packets: figures.packets)
      }
      return Direction(
        meanOpinionScore: figures.meanOpinionScore, jitter: figures.jitter, loss: figures.lossRate,
        packets: figures.packets)
    }
    self.init(sent: direction(figures.sent), received: direction(figures.received), roundTrip: figures.roundTrip)
  }
}
