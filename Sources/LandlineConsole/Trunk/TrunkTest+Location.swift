import CallModel
import LandlineConfiguration
import LandlineResolver
import LandlineWire
import SDPCore
import SIPCore

extension TrunkTest {
  var configurationStep: TrunkStep {
    let trunk = trunk
    var details: [String] = []
    if !trunk.proxies.isEmpty {
      details.append("by way of \(trunk.proxies.map(TrunkText.text).joined(separator: ", "))")
    }
    if let account = trunk.account {
      details.append("account \(TrunkText.clean(account.username))" + (account.realm.map { ", realm \($0)" } ?? ""))
    }
    if let seconds = trunk.registrationSeconds { details.append("registers for \(seconds) s") }
    let uri = TrunkText.text(trunk.uri)
    let transports = Set(settings.listeners.map(\.transport))
    let wanted = trunk.uri.scheme == .sips ? "tls" : nextHop.parameters["transport"]?.value?.lowercased()
    let missing = wanted.flatMap { SIPTransport(rawValue: $0) }.flatMap { name in
      settings.listeners.isEmpty || transports.contains(name) ? nil : name
    }
    if let missing {
      return TrunkStep(
        .configuration, .warn, "\(settings.name) is \(uri), but no listener speaks \(missing.rawValue)",
        details: details,
        fix: "add a listener with 'transport: \(missing.rawValue)' to \(settings.file ?? "the configuration")")
    }
    let text = settings.file.map { "\(settings.name) is \(uri), from \($0)" } ?? uri
    return TrunkStep(.configuration, .ok, text, details: details, facts: [("uri", .string(uri))])
  }

  /// Targets in the order to try, at most ``maximumTargets``.
  func locate() async throws -> [LocationTarget] {
    var configuration = ResolverConfiguration.standard
    configuration.servers = settings.nameServers
    configuration.locationMilliseconds = max(timeout, 1)
    configuration.timeoutMilliseconds = Int32(clamping: max(timeout / 4, 50))
    let resolver: Resolver
    do {
      resolver = try Resolver(configuration)
    } catch {
      try report(TrunkStep(.dns, .fail, error.description, fix: "name servers as numeric addresses: --name-server"))
      return []
    }
    defer { resolver.shutDown() }
    let sink = eventSink
    resolver.locate(nextHop, policy: policy) { question, answer in
      sink.yield(.question(question, answer))
    } then: { result in
      sink.yield(.located(result))
    }
    var records: [String] = []
    var questions = 0
    let result = await wait(timeout + 1000) { event -> LocationResult? in
      switch event {
      case .question(let question, let answer):
        questions += 1
        if records.count < 40 { records += TrunkText.text(question, answer) }
        return nil
      case .located(let result): return result
      default: return nil
      }
    }
    let host = nextHop.host.map { "\($0)" } ?? "?"
    switch result ?? .failed(LocationFailure(.nameServersUnreachable, host)) {
    case .failed(let failure):
      try report(
        TrunkStep(.dns, .fail, failure.description, details: records, fix: TrunkTest.fix(failure)))
      return []
    case .found(let targets):
      let shown = targets.map { TrunkText.text($0.address) }
      let facts: [(String, JSONValue)] = [
        ("targets", .array(shown.map { .string($0) })), ("questions", .integer(Int64(questions))),
      ]
      if questions == 0 {
        try report(
          TrunkStep(.dns, .skip, "\(host) is an address: \(shown.joined(separator: ", "))", facts: facts))
      } else {
        let count = targets.count == 1 ? "1 target" : "\(targets.count) targets in this order"
        let rest = targets.count - TrunkTest.maximumTargets
        let note = rest > 0 ? ["the first \(TrunkTest.maximumTargets) are tried"] : []
        try report(
          TrunkStep(
            .dns, .ok, "\(count): \(shown.joined(separator: ", "))", details: records + note, facts: facts))
      }
      return Array(targets.prefix(TrunkTest.maximumTargets))
    }
  }

  /// What the gateway's listeners can speak, or everything.
  private var policy: LocationPolicy {
    guard !settings.listeners.isEmpty else { return LocationPolicy(transports: [.udp, .tcp, .tls]) }
    return LocationPolicy(
      listeners: settings.listeners.map {
        AdvertisedAddress(listener: $0.id, transport: $0.transport, host: $0.host, port: $0.port)
      })
  }

  private static func fix(_ failure: LocationFailure) -> String {
    switch failure.kind {
    case .noSuchHost: "check the spelling of the host, or ask the carrier for its SIP domain or address"
    case .noSupportedTransport:
      "add a listener with a transport and address family that the trunk has, or name another one in the URI: "
        + ";transport=udp, tcp or tls"
    case .nameServersUnreachable: "check /etc/resolv.conf, or name a server that answers: --name-server 192.0.2.53:53"
    case .unusableURI: "a host that can be called, such as sip:sip.example.com;transport=tls"
    case .tooManyQuestions, .shutDown: "repeat the command"
    }
  }

  func unroutable(_ target: LocationTarget, _ problem: LocalRoute.RouteProblem) -> TrunkStep {
    let place = TrunkText.text(target.address)
    let isIPv6 = target.address.host.family == .ipv6
    return TrunkStep(
      .reachability, isIPv6 ? .warn : .fail, "this machine has no way there: \(problem.text)", target: place,
      fix: isIPv6
        ? "give this machine IPv6, or listen on IPv4 addresses only" : "check the routes of this machine: ip route get")
  }
}
