internal import AppProtocol
internal import CallEngine
internal import CallModel
internal import LandlineWire
internal import RoutingCore
internal import SIPCore

extension GatewayConfiguration {
  /// The node's own values. What stands in `listeners`, `trunks` and `environments` belongs to names of the operator's
  /// and is only listed.
  func currentSettings(_ origin: (String) -> ConfigurationOrigin) -> [ConfigurationSetting] {
    var settings: [ConfigurationSetting] = []
    func add(_ key: String, _ value: String) {
      settings.append(ConfigurationSetting(key: key, value: value, origin: origin(key)))
    }
    for fact in facts where !fact.isNamed { add(fact.key, fact.shown ?? "<redacted>") }
    add("listeners", listeners.map(\.name).joined(separator: ", "))
    add("trunks", trunks.map(\.trunk.name).joined(separator: ", "))
    add("environments", environments.map(\.name).joined(separator: ", "))
    return settings
  }

  /// What is different from `other`, which holds now.
  public func changes(since other: GatewayConfiguration) -> ConfigurationChanges {
    var changes = ConfigurationChanges()
    func add(_ text: String, isLive: Bool) {
      if isLive { changes.live.append(text) } else { changes.needsRestart.append(text) }
    }
    let before = Dictionary(other.facts.map { ($0.key, $0) }) { first, _ in first }
    let after = Dictionary(facts.map { ($0.key, $0) }) { first, _ in first }
    // Of an environment that is new, or gone, its parts are not listed.
    let whole = Set(environments.map(\.name)).intersection(other.environments.map(\.name))
    for fact in facts where fact.environment.map(whole.contains) ?? true {
      guard let old = before[fact.key] else {
        add("\(fact.key): added", isLive: fact.comesAndGoesLive)
        continue
      }
      guard old.value != fact.value else { continue }
      if let oldText = old.shown, let newText = fact.shown {
        add("\(fact.key): \(oldText), now \(newText)", isLive: fact.isLive)
      } else {
        add("\(fact.key): changed", isLive: fact.isLive)
      }
    }
    for fact in other.facts where after[fact.key] == nil && fact.environment.map(whole.contains) ?? true {
      add("\(fact.key): removed", isLive: fact.comesAndGoesLive)
    }
    return changes
  }

  /// One value, to compare and to show.
  private struct Fact {
    let key: String
    let value: AnyHashable
    /// `nil` for what is too large or too secret to show.
    let shown: String?
    /// Whether a running gateway takes a new value.
    let isLive: Bool
    /// Whether it belongs to a name that the operator chose.
    var isNamed = false
    /// The environment that it is a part of.
    var environment: String?
    var comesAndGoesLive: Bool { isNamed && isLive }
  }

  private var facts: [Fact] { nodeFacts + tuningFacts + namedFacts }

  private func shown(_ host: SIPHost?, _ port: UInt16?) -> String {
    guard let host else { return "" }
    return host.description + (port.map { ":\($0)" } ?? "")
  }

  /// What a node is built on: sockets, files, its name.
  private var nodeFacts: [Fact] {
    func fact(_ key: String, _ value: some Hashable, _ shown: String) -> Fact {
      Fact(key: key, value: AnyHashable(value), shown: shown, isLive: false)
    }
    return [
      fact("node", node, node.text),
      fact("state", state, state),
      fact("host", host, shown(host, nil)),
      fact("http.bind", shown(http.host, http.port), shown(http.host, http.port)),
      fact(
        "http.advertise", shown(http.advertisedHost, http.advertisedPort),
        shown(http.advertisedHost, http.advertisedPort)),
      fact("http.certificate", http.tls, http.tls?.identity.certificateChain ?? ""),
      fact("http.metrics", http.hasMetrics, "\(http.hasMetrics)"),
      fact("http.pages", http.pages, http.pages.description),
      fact("http.origins", http.origins, http.origins.joined(separator: ", ")),
      fact("http.proxies", http.proxies, http.proxies.map { "\($0)" }.joined(separator: ", ")),
      fact("http.limits", http.limits, "\(http.limits.connections) connections, \(http.limits.sessions) sessions"),
      fact("media.app", media.app, media.app.map { shown($0.bind, $0.port) }.joined(separator: ", ")),
      fact(
        "media.trunk", media.trunk,
        media.trunk.map { "\(shown($0.bind, nil)) \($0.ports.lowerBound)-\($0.ports.upperBound)" }
          .joined(separator: ", ")),
      fact("media.threads", media.threads, "\(media.threads)"),
      fact(
        "retention.records", retention.recordMilliseconds, retention.recordMilliseconds.map(Self.duration) ?? "forever"),
      fact(
        "retention.statistics", retention.statisticsMilliseconds,
        retention.statisticsMilliseconds.map(Self.duration) ?? "as records"),
      fact(
        "retention.recordings", retention.recordingMilliseconds,
        retention.recordingMilliseconds.map(Self.duration) ?? "forever"),
      fact("hep.collector", hep, hep.map { shown($0.host, $0.port) } ?? "none"),
      fact(
        "retention.traces", retention.traceMilliseconds, retention.traceMilliseconds.map(Self.duration) ?? "none"),
    ]
  }

  /// What a running gateway can take over.
  private var tuningFacts: [Fact] {
    func fact(_ key: String, _ value: some Hashable, _ shown: String) -> Fact {
      Fact(key: key, value: AnyHashable(value), shown: shown, isLive: true)
    }
    func time(_ key: String, _ milliseconds: Int64) -> Fact { fact(key, milliseconds, Self.duration(milliseconds)) }
    return [
      fact("log.level", log.level, log.level.rawValue),
      fact("log.format", log.format, log.format.rawValue),
      fact("log.mask-numbers", log.masksNumbers, "\(log.masksNumbers)"),
      fact("calls.maximum", calls.calls, "\(calls.calls)"),
      fact("calls.per-session", calls.callsPerSession, "\(calls.callsPerSession)"),
      time("calls.first-grant", calls.firstGrantSeconds * 1000),
      time("calls.grant", calls.grantSeconds * 1000),
      time("calls.grant-guard", calls.guardMilliseconds),
      time("calls.ledger-timeout", calls.ledgerMilliseconds),
      time("calls.maximum-length", calls.maximumCallSeconds * 1000),
      time("calls.early-media", calls.earlyMediaMilliseconds),
      time("calls.dead-media", calls.deadMediaMilliseconds),
      time("calls.media-set-up", calls.mediaSetUpMilliseconds),
      time("calls.preparation", calls.preparationMilliseconds),
      fact("calls.conferences", calls.rooms, "\(calls.rooms)"),
      fact("calls.conference-participants", calls.participantsPerRoom, "\(calls.participantsPerRoom)"),
      time("calls.conference-alone", calls.aloneMilliseconds),
      time("drain.timeout", drainMilliseconds),
      fact("stir.authorities", stir.authorities, stir.authorityFiles.joined(separator: ", ")),
      fact("stir.web-authorities", stir.fetches.authorities, stir.webAuthorityFiles.joined(separator: ", ")),
      fact(
        "stir.internal-addresses", stir.fetches.gate,
        stir.fetches.gate.allowed.map(\.description).joined(separator: ", ")),
      Fact(
        key: "registrar.algorithms", value: AnyHashable(registrarAlgorithms),
        shown: registrarAlgorithms.map(\.rawValue).joined(separator: ", "), isLive: false),
      fact(
        "media.turn.servers", media.turn?.servers,
        media.turn.map { $0.servers.map(\.description).joined(separator: ", ") } ?? "none"),
      Fact(
        key: "media.turn.secret-file", value: AnyHashable(media.turn?.secret), shown: media.turn == nil ? "none" : nil,
        isLive: true),
      time(
        "media.turn.lifetime", (media.turn?.lifetimeSeconds ?? TURNService.standardLifetimeSeconds) * 1000),
      fact(
        "retention.client-statistics", retention.keepsClientStatistics,
        retention.keepsClientStatistics ? "keep" : "drop"),
    ]
  }

  private var namedFacts: [Fact] {
    func fact(_ key: String, _ value: some Hashable, isLive: Bool, environment: String? = nil) -> Fact {
      Fact(key: key, value: AnyHashable(value), shown: nil, isLive: isLive, isNamed: true, environment: environment)
    }
    var facts: [Fact] = []
    for listener in listeners { facts.append(fact("listeners.\(listener.name)", listener, isLive: false)) }
    for trunk in trunks { facts.append(fact("trunks.\(trunk.trunk.name)", trunk, isLive: true)) }
    for environment in environments {
      let path = "environments.\(environment.name)"
      func part(_ key: String, _ value: some Hashable, isLive: Bool = true) {
        facts.append(fact("\(path).\(key)", value, isLive: isLive, environment: environment.name))
      }
      facts.append(fact(path, true, isLive: false))
      part("ledger", environment.ledger, isLive: false)
      part("ledger-cache", environment.ledgerCacheMebibytes, isLive: false)
      part("largest-amount", environment.largestAmountMicros, isLive: false)
      part("recordings", environment.recordings, isLive: false)
      part("sounds", environment.sounds, isLive: false)
      part("speech", environment.speaks, isLive: false)
      part("recording-key-file", environment.recordingKeyFile, isLive: false)
      part("recording-space", environment.recordingMebibytes, isLive: false)
      part("trunks", environment.trunks)
      part("sandbox-numbers", environment.hasSandboxNumbers, isLive: false)
      part(
        "sip-hosts",
        environment.sipHosts.listed + (environment.sipHosts.reachesAny ? [EnvironmentConfiguration.any] : []))
      part("sip-rate", environment.sipRatePerMinute)
      part("countries", environment.countries)
      part("velocity", environment.velocity)
      part("emergency.numbers", environment.emergencyNumbers)
      part("emergency.calls", environment.emergencyCalls)
      part("emergency.trunks", environment.emergencyTrunks)
      part("user-length", environment.usersMaximumLength)
      part("registration", environment.registration)
      for application in environment.applications { part("applications.\(application.name)", application) }
      for person in environment.operators { part("operators.\(person.name)", person) }
      for person in environment.owners { part("owners.\(person.name)", person) }
      for row in environment.numbers { part("numbers.\(row.number)", row) }
      for row in environment.deskPhones { part("desk-phones.\(row.name)", row) }
    }
    return facts
  }

  /// `90d`, `5m`, `1500ms`: the largest unit that leaves a whole number.
  static func duration(_ milliseconds: Int64) -> String {
    for (unit, length): (String, Int64) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
    where milliseconds != 0 && milliseconds % length == 0 { return "\(milliseconds / length)\(unit)" }
    return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
  }
}
