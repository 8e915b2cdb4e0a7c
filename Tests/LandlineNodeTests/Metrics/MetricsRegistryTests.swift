import CoreMetrics
import LandlineNode
import Testing

/// Prometheus' text format 0.0.4.
@Suite struct MetricsRegistryTests {
  @Test func writesCountersGaugesAndHistograms() {
    let registry = MetricsRegistry()
    registry.add(.callsEnded, 2, [("code", "gw.funds"), ("environment", "pro\"duc\\tion\n")])
    registry.set(.liveCalls, 3)
    registry.observe(.eventLoopLag, nanoseconds: 3_000_000)
    registry.observe(.eventLoopLag, nanoseconds: 20_000_000_000)
    let text = registry.text()
    #expect(
      text.contains(
        """
        # HELP landline_calls_ended_total Calls that are over, by environment and failure code; code is none where nothing failed.
        # TYPE landline_calls_ended_total counter
        landline_calls_ended_total{code="gw.funds",environment="pro\\"duc\\\\tion\\n"} 2

        """))
    #expect(text.contains("# TYPE landline_live_calls gauge\nlandline_live_calls 3\n"))
    #expect(text.contains("landline_event_loop_lag_seconds_bucket{le=\"0.0025\"} 0\n"))
    #expect(text.contains("landline_event_loop_lag_seconds_bucket{le=\"0.005\"} 1\n"))
    #expect(text.contains("landline_event_loop_lag_seconds_bucket{le=\"10\"} 1\n"))
    #expect(text.contains("landline_event_loop_lag_seconds_bucket{le=\"+Inf\"} 2\n"))
    #expect(text.contains("landline_event_loop_lag_seconds_sum 20.003\nlandline_event_loop_lag_seconds_count 2\n"))
    #expect(text.hasSuffix("\n"))
  }

  @Test func keepsOneSeriesForOneSetOfLabelsAndNoMoreThanAllowed() {
    let registry = MetricsRegistry()
    registry.add(.sipMessages, 1, [("b", "2"), ("a", "1")])
    registry.add(.sipMessages, 1, [("a", "1"), ("b", "2")])
    #expect(registry.text().contains("landline_sip_messages_total{a=\"1\",b=\"2\"} 2\n"))
    for number in 0..<MetricsRegistry.maximumSeries + 10 {
      registry.add(.appMessages, 1, [("n", String(number))])
    }
    let lines = registry.text().split(separator: "\n").filter { $0.hasPrefix("landline_app_messages_total{") }
    #expect(lines.count == MetricsRegistry.maximumSeries)
    #expect(registry.text().contains("landline_metrics_dropped_series_total 10\n"))
  }

  @Test func otherNamesAreMadePlainAndKindsDoNotMix() {
    let registry = MetricsRegistry()
    registry.makeCounter(label: "9 http-requests", dimensions: []).increment(by: 5)
    registry.makeTimer(label: "9 http-requests_total", dimensions: []).recordNanoseconds(1)
    registry.makeMeter(label: "level", dimensions: []).increment(by: 1.5)
    registry.makeRecorder(label: "level", dimensions: [], aggregate: true).record(7.0)
    registry.makeFloatingPointCounter(label: "part", dimensions: []).increment(by: 2.75)
    let text = registry.text()
    #expect(text.contains("_9_http_requests_total 5\n"))
    #expect(text.contains("level 1.5\n"))
    #expect(!text.contains("level_bucket"))
    #expect(text.contains("part_total 2\n"))
  }

  @Test func everyMetricHasAHelpTextAndANameOfTheConvention() {
    let registry = MetricsRegistry()
    for metric in LandlineMetric.allCases {
      switch metric.kind {
      case .counter: registry.add(metric)
      case .gauge: registry.set(metric, 1)
      case .timer: registry.observe(metric, nanoseconds: 1)
      }
    }
    let text = registry.text()
    for metric in LandlineMetric.allCases {
      #expect(metric.rawValue.hasPrefix("landline_"))
      #expect(text.contains("# HELP \(metric.rawValue)"))
      #expect(metric.help.hasSuffix("."))
    }
    #expect(text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }.count == LandlineMetric.allCases.count)
  }
}
