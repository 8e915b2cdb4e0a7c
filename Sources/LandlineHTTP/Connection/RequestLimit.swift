package import CallModel
package import LandlineNode
package import Logging

/// The limit of one door: who a request is from, whether it is one too many, and who is told.
package struct RequestLimit: Sendable {
  private let requests: HostRequests
  package let proxies: NamedProxies
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let now: @Sendable () -> MonotonicInstant

  package init(
    requests: HostRequests, proxies: NamedProxies, metrics: MetricsRegistry, logger: Logger,
    now: @escaping @Sendable () -> MonotonicInstant
  ) {
    self.requests = requests
    self.proxies = proxies
    self.metrics = metrics
    self.logger = logger
    self.now = now
  }

  /// Counts a request. The log and the metrics are told of a host once, until it has kept within its limit again.
  /// - Returns: what it is refused with; `nil` when it is within the limit.
  package func refusal(_ host: SIPHost) -> Problem? {
    guard case .over(let seconds, let isFirst) = requests.count(host, at: now()) else { return nil }
    if isFirst {
      metrics.add(.httpThrottledHosts)
      logger.warning(
        "a host asks more often than it may, and is refused",
        metadata: ["host": "\(host)", "key": "http.limits.requests-per-second"])
    }
    return Problem(
      .requestsExhausted, "this host asks more often than it may", headers: [("Retry-After", String(seconds))])
  }

  /// Counts a proof that was refused. The log is told when the host has asked for too much with it: at its next request.
  /// - Parameter metric: what counts refused proofs of its kind.
  package func countRefusedProof(_ host: SIPHost, _ metric: LandlineMetric = .httpRefusedProofs) {
    metrics.add(metric)
    requests.countRefusedProof(host, at: now())
  }
}
