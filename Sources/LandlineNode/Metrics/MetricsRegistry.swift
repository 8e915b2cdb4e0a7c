public import CoreMetrics
import Synchronization

/// Keeps every metric of the process and writes them in Prometheus' text format 0.0.4.
///
/// A metric has at most ``maximumSeries`` combinations of labels and the process at most ``maximumFamilies`` metrics;
/// what goes beyond is counted and dropped.
public final class MetricsRegistry: MetricsFactory {
  /// Most combinations of labels that one metric may have.
  public static let maximumSeries = 400
  /// Most metrics that the process may have, the gateway's own included.
  public static let maximumFamilies = 500
  /// The `Content-Type` of ``text()``.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private enum Kind: String { case counter, gauge, histogram }

  private enum Series {
    case counter(CounterSeries)
    case gauge(GaugeSeries)
    case histogram(HistogramSeries)
  }

  private struct Family {
    var kind: Kind
    var help: String
    /// By the labels as they are written: `code="gw.funds"`.
    var series: [String: Series] = [:]
  }

  private let families = Mutex<[String: Family]>([:])
  private let dropped = CounterSeries()

  /// Knows every ``LandlineMetric``, so that none is refused later; each is written once it has a value.
  public init() {
    families.withLock { families in
      for metric in LandlineMetric.allCases {
        let kind: Kind =
          switch metric.kind {
          case .counter: .counter
          case .gauge: .gauge
          case .timer: .histogram
          }
        families[MetricsRegistry.name(metric.rawValue, metric.kind)] = Family(kind: kind, help: metric.help)
      }
      let name = MetricsRegistry.name(LandlineMetric.seriesDropped.rawValue, .counter)
      families[name]?.series[""] = .counter(dropped)
    }
  }

  // MARK: - The gateway's own metrics

  /// Adds to a counter.
  /// - Parameters:
  ///   - amount: 0 and below change nothing.
  ///   - labels: names and values, in any order.
  public func add(_ metric: LandlineMetric, _ amount: Int64 = 1, _ labels: [(String, String)] = []) {
    makeCounter(label: metric.rawValue, dimensions: labels).increment(by: amount)
  }

  /// Gives a gauge its value.
  /// - Parameter labels: names and values, in any order.
  public func set(_ metric: LandlineMetric, _ value: Double, _ labels: [(String, String)] = []) {
    gauge(metric.rawValue, labels).set(value)
  }

  /// Adds one duration to a timer; it is written in seconds.
  /// - Parameter labels: names and values, in any order.
  public func observe(_ metric: LandlineMetric, nanoseconds: Int64, _ labels: [(String, String)] = []) {
    makeTimer(label: metric.rawValue, dimensions: labels).recordNanoseconds(nanoseconds)
  }

  // MARK: - MetricsFactory

  /// The counter with these labels, written as `label_total`. Beyond the limits, or where the name is another kind of
  /// metric, one that counts and is never written.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let found = series(MetricsRegistry.name(label, .counter), dimensions, .counter) { .counter(CounterSeries()) }
    if case .counter(let series)? = found { return series }
    return CounterSeries()
  }

  /// Passes on whole steps only; what is less waits for the next increment.
  public func makeFloatingPointCounter(label: String, dimensions: [(String, String)]) -> any FloatingPointCounterHandler
  {
    FractionCounter(makeCounter(label: label, dimensions: dimensions))
  }

  /// A gauge, which shows its last value.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { gauge(label, dimensions) }

  /// With `aggregate` a histogram, whose buckets reach from 0.0001 to 10; without, a gauge that shows the last value.
  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    guard aggregate else { return gauge(label, dimensions) }
    return histogram(MetricsRegistry.plain(label), dimensions)
  }

  /// A histogram in seconds, written as `label_seconds`, with buckets from 0.1 ms to 10 s.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    histogram(MetricsRegistry.name(label, .timer), dimensions)
  }

  /// Does nothing: a series is written until the process ends.
  public func destroyCounter(_ handler: any CounterHandler) {}
  /// Does nothing: a series is written until the process ends.
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  /// Does nothing: a series is written until the process ends.
  public func destroyMeter(_ handler: any MeterHandler) {}
  /// Does nothing: a series is written until the process ends.
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  /// Does nothing: a series is written until the process ends.
  public func destroyTimer(_ handler: any TimerHandler) {}

  private func gauge(_ label: String, _ labels: [(String, String)]) -> GaugeSeries {
    let found = series(MetricsRegistry.plain(label), labels, .gauge) { .gauge(GaugeSeries()) }
    if case .gauge(let series)? = found { return series }
    return GaugeSeries()
  }

  private func histogram(_ name: String, _ labels: [(String, String)]) -> HistogramSeries {
    let found = series(name, labels, .histogram) { .histogram(HistogramSeries()) }
    if case .histogram(let series)? = found { return series }
    return HistogramSeries()
  }

  /// - Returns: `nil` when the name is another kind of metric or there are too many.
  private func series(
    _ name: String, _ labels: [(String, String)], _ kind: Kind, _ make: () -> Series
  ) -> Series? {
    let key = MetricsRegistry.text(labels)
    return families.withLock { families in
      if families[name] == nil {
        guard families.count < MetricsRegistry.maximumFamilies else {
          dropped.increment(by: 1)
          return nil
        }
        families[name] = Family(kind: kind, help: name)
      }
      guard let family = families[name], family.kind == kind else { return nil }
      if let series = family.series[key] { return series }
      guard family.series.count < MetricsRegistry.maximumSeries else {
        dropped.increment(by: 1)
        return nil
      }
      let series = make()
      families[name]?.series[key] = series
      return series
    }
  }

  // MARK: - Text

  /// All metrics, sorted by name.
  public func text() -> String {
    // Atomics are read under the lock: a few microseconds, off the hot path.
    families.withLock { families in
      var out = ""
      for (name, family) in families.sorted(by: { $0.key < $1.key }) where !family.series.isEmpty {
        out += "# HELP \(name) \(MetricsRegistry.escaped(help: family.help))\n# TYPE \(name) \(family.kind.rawValue)\n"
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
          MetricsRegistry.write(name, labels, series, to: &out)
        }
      }
      return out
    }
  }

  private static func write(_ name: String, _ labels: String, _ series: Series, to out: inout String) {
    let braces = labels.isEmpty ? "" : "{\(labels)}"
    switch series {
    case .counter(let counter): out += "\(name)\(braces) \(counter.total)\n"
    case .gauge(let gauge): out += "\(name)\(braces) \(text(gauge.current))\n"
    case .histogram(let histogram):
      let state = histogram.snapshot
      let before = labels.isEmpty ? "" : labels + ","
      var count: UInt64 = 0
      for (index, bound) in HistogramSeries.bounds.enumerated() {
        count += state.counts[index]
        out += "\(name)_bucket{\(before)le=\"\(text(bound))\"} \(count)\n"
      }
      count += state.counts[HistogramSeries.bounds.count]
      out += "\(name)_bucket{\(before)le=\"+Inf\"} \(count)\n"
      out += "\(name)_sum\(braces) \(text(state.sum))\n\(name)_count\(braces) \(count)\n"
    }
  }

  private static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
  }

  /// The name as written: base unit and `_total` at its end (prometheus.io, metric and label naming).
  static func name(_ label: String, _ kind: LandlineMetric.Kind) -> String {
    let name = plain(label)
    switch kind {
    case .counter: return name.hasSuffix("_total") ? name : name + "_total"
    case .timer: return name.hasSuffix("_seconds") ? name : name + "_seconds"
    case .gauge: return name
    }
  }

  /// Letters, digits and `_`, no digit first.
  private static func plain(_ label: String) -> String {
    // Nearly every name is plain already, and some are asked for with every message.
    if let first = label.utf8.first, !isDigit(first),
      label.utf8.allSatisfy({ isDigit($0) || isLetter($0) || $0 == 0x5F })
    {
      return label
    }
    var name = ""
    for scalar in label.unicodeScalars {
      let isPlain = scalar.isASCII && (Character(scalar).isLetter || Character(scalar).isNumber)
      name.unicodeScalars.append(isPlain ? scalar : "_")
    }
    return name.first.map { $0.isNumber } ?? true ? "_" + name : name
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func text(_ labels: [(String, String)]) -> String {
    if labels.isEmpty { return "" }
    if labels.count == 1 { return "\(plain(labels[0].0))=\"\(escaped(value: labels[0].1))\"" }
    return labels.sorted { $0.0 < $1.0 }.map { "\(plain($0.0))=\"\(escaped(value: $0.1))\"" }.joined(separator: ",")
  }

  private static func escaped(value: String) -> String {
    if !value.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) { return value }
    var out = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": out += "\\\\"
      case "\"": out += "\\\""
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  private static func escaped(help: String) -> String {
    var out = ""
    for scalar in help.unicodeScalars {
      switch scalar {
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}

/// Whole steps out of fractions.
private final class FractionCounter: FloatingPointCounterHandler {
  private let counter: any CounterHandler
  private let rest = Mutex(0.0)

  init(_ counter: any CounterHandler) { self.counter = counter }

  func increment(by amount: Double) {
    guard amount.isFinite, amount > 0, amount < 1e15 else { return }
    let whole = rest.withLock { rest in
      rest += amount
      let whole = rest.rounded(.down)
      rest -= whole
      return whole
    }
    counter.increment(by: Int64(whole))
  }

  func reset() {
    rest.withLock { $0 = 0 }
    counter.reset()
  }
}
