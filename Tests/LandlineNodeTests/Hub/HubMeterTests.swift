import LandlineNode
import SIPCore
import Testing

/// What the hub counts, as it is read.
@Suite("Figures of the hub") struct HubMeterTests {
  @Test("messages that could not be read are told by their rule, responses apart, and each once") func refusals() {
    let registry = MetricsRegistry()
    let meter = HubMeter(registry)
    func series() -> [String] {
      registry.text().split(separator: "\n").filter { $0.hasPrefix("landline_sip_refused_total{") }.map(String.init)
        .sorted()
    }
    var counters = UserAgentCounters()
    meter.sip(counters)
    #expect(series().isEmpty)
    counters.refusedByRule = [.via: 5, .fieldValue: 2]
    counters.refusedResponsesByRule = [.via: 3]
    for _ in 0..<2 { meter.sip(counters) }
    #expect(
      series() == [
        "landline_sip_refused_total{kind=\"other\",rule=\"parser.fieldValue\"} 2",
        "landline_sip_refused_total{kind=\"other\",rule=\"semantic.via\"} 2",
        "landline_sip_refused_total{kind=\"response\",rule=\"semantic.via\"} 3",
      ])
    counters.refusedByRule[.via] = 6
    meter.sip(counters)
    #expect(series().contains("landline_sip_refused_total{kind=\"other\",rule=\"semantic.via\"} 3"))
    #expect(2 * GateRule.allCases.count <= MetricsRegistry.maximumSeries)
  }
}
