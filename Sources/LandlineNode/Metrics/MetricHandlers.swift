import CoreMetrics
import Synchronization

/// A figure that only grows.
final class CounterSeries: CounterHandler {
  private let value = Atomic<Int64>(0)

  func increment(by amount: Int64) {
    guard amount > 0 else { return }
    value.wrappingAdd(amount, ordering: .relaxed)
  }

  func reset() { value.store(0, ordering: .relaxed) }
  var total: Int64 { value.load(ordering: .relaxed) }
}

/// A figure that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler {
  private let value = Mutex(0.0)

  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { self.value.withLock { $0 = value } }
  func increment(by amount: Double) { value.withLock { $0 += amount } }
  func decrement(by amount: Double) { value.withLock { $0 -= amount } }
  func record(_ value: Int64) { set(Double(value)) }
  func record(_ value: Double) { set(value) }
  var current: Double { value.withLock { $0 } }
}

/// A distribution over fixed buckets.
final class HistogramSeries: TimerHandler, RecorderHandler {
  /// Upper bounds; seconds where time is measured.
  static let bounds: [Double] = [
    0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]

  struct State {
    /// One more than bounds: the last is everything above.
    var counts = [UInt64](repeating: 0, count: HistogramSeries.bounds.count + 1)
    var sum = 0.0
  }

  private let state = Mutex(State())

  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
  func record(_ value: Int64) { record(Double(value)) }

  func record(_ value: Double) {
    guard value.isFinite else { return }
    let index = HistogramSeries.bounds.firstIndex { value <= $0 } ?? HistogramSeries.bounds.count
    state.withLock {
      $0.counts[index] += 1
      $0.sum += value
    }
  }

  var snapshot: State { state.withLock { $0 } }
}
