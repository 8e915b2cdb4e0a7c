public import CallModel
internal import Foundation
public import LandlineWire
public import RoutingCore
public import SDPCore
public import SIPCore

/// One entry of `trunks`: a carrier or another SIP peer, with everything that it wants to be treated by.
public struct TrunkConfiguration: Hashable, Sendable {
  /// Most outbound proxies of a trunk.
  public static let maximumProxies = 8

  /// Name, order, caps, health and failover.
  public var trunk: Trunk
  /// Where its calls go: host, port and transport of every Request-URI.
  public var uri: SIPURI
  /// A route before it, top first.
  public var proxies: [SIPURI]
  /// `nil` where it never challenges.
  public var account: DigestAccount?
  /// Registers the account's user where set: seconds asked for.
  public var registrationSeconds: UInt32?
  /// Who calls, and how numbers are written.
  public var identity: CallerIdentityPolicy
  /// `nil` for the standard policy.
  public var tls: TLSClientPolicy?
  /// Codecs in the order of offers, packet time, SRTP.
  public var media: MediaPolicy
  /// RFC 4028.
  public var sessionTimer: SessionTimerPolicy
  /// Whether provisional responses are acknowledged (RFC 3262).
  public var reliability: OutgoingCall.Reliability
  /// What is believed of calls that it sends, and what it may ask for.
  public var inbound: InboundTrunkPolicy
  /// 3xx responses that are followed in one call.
  public var maximumRedirections: Int
  /// How long a call may ring.
  public var ringTimeoutMilliseconds: Int64
  /// Whether calls over it are recorded; `nil`: they are not.
  public var recording: RecordingOptions?

  /// A trunk of which only the URI is known; everything else is as if its keys were left out.
  /// - Parameter name: Stands in records.
  /// - Throws: ``InvalidValue`` with rules `trunk.name`, `trunk.uri` and those of URIs.
  public init(name: String, uri: String) throws(InvalidValue) {
    let uri = try TrunkConfiguration.peer(uri)
    trunk = try Trunk(name: name)
    self.uri = uri
    proxies = []
    media = .trunk(.none)
    sessionTimer = .standard
    reliability = .supported
    inbound = InboundTrunkPolicy()
    maximumRedirections = 0
    ringTimeoutMilliseconds = TrunkConfiguration.standardRingTimeoutMilliseconds
    identity = CallerIdentityPolicy(domain: uri.host ?? .name("invalid"))
  }

  /// Hosts that its requests may go to first.
  var hosts: Set<SIPHost> {
    Set(
      ([uri] + proxies).compactMap(\.host).map { host in
        if case .name(let name) = host { .name(name.lowercased()) } else { host }
      })
  }

  static let standardRingTimeoutMilliseconds: Int64 = 180_000

  init?(_ name: String, reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    let had = section.requiredText("uri") != nil
    let uri = section.value("uri") { try TrunkConfiguration.peer($0) }
    let proxies = (section.texts("proxies", atMost: TrunkConfiguration.maximumProxies) ?? []).compactMap {
      section.entry("proxies", $0, TrunkConfiguration.proxy)
    }
    let accountSection = section.section("account")
    let account = accountSection.flatMap { TrunkConfiguration.account($0, folder: folder) }
    self.account = account
    registrationSeconds = section.milliseconds("register", in: 60_000...86_400_000).map { UInt32($0 / 1000) }
    if registrationSeconds != nil, accountSection == nil {
      section.addProblem("register", "there is no 'account' whose user could be registered")
    }
    tls = section.section("tls").map { TrunkConfiguration.tls($0, folder: folder) }
    media = TrunkConfiguration.media(section)
    sessionTimer =
      section.section("session-timer").map { TrunkConfiguration.sessionTimer($0) } ?? .standard
    switch section.choice("reliable-provisionals", Reliability.self) ?? .supported {
    case .off: reliability = .off
    case .supported: reliability = .supported
    case .required: reliability = .required
    }
    var inbound = section.section("inbound").map { TrunkConfiguration.inbound($0) } ?? InboundTrunkPolicy()
    inbound.allowsTransfer = section.flag("transfers") ?? false
    inbound.stir = section.choice("stir", InboundTrunkPolicy.SignedCallers.self) ?? .off
    self.inbound = inbound
    maximumRedirections = section.number("redirections", in: 0...10) ?? 0
    ringTimeoutMilliseconds =
      section.milliseconds("ring-timeout", in: 5_000...600_000)
      ?? TrunkConfiguration.standardRingTimeoutMilliseconds
    recording = RecordingOptions(reading: section)
    let host = uri?.host ?? .name("invalid")
    identity = TrunkConfiguration.identity(
      section.section("caller"), section.section("dial"), host: host, account: account)
    let limits = TrunkCapacity.Limits(
      concurrentCalls: section.number("max-calls", in: 1...1_000_000),
      callsPerSecond: section.number("calls-per-second", in: 1...TrunkCapacity.Limits.maximumPerSecond),
      burst: section.number("burst", in: 1...1_000_000))
    var health = TrunkHealth.Policy.standard
    if let interval = section.milliseconds("ping", in: 0...3_600_000) { health.intervalMilliseconds = interval }
    var failover = FailoverPolicy.standard
    if let next = section.flag("not-found-tries-next") { failover.triesNextTrunkOnNotFound = next }
    let priority = section.number("priority", in: 0...65_535) ?? 10
    let weight = section.number("weight", in: 0...65_535) ?? 1
    let isDraining = section.flag("drain") ?? false
    do {
      trunk = try Trunk(
        name: name, priority: UInt16(clamping: priority), weight: UInt16(clamping: weight), limits: limits,
        healthPolicy: health, failover: failover, isDraining: isDraining)
    } catch {
      section.addProblem("\(error.problem); accepted: \(error.accepted)", at: nil)
      return nil
    }
    guard had, let uri else { return nil }
    self.uri = uri
    self.proxies = proxies
  }

  private enum Reliability: String, CaseIterable { case off, supported, required }

  /// A host that calls go to: no user, no header fields.
  static func peer(_ text: String) throws(InvalidValue) -> SIPURI {
    let hasScheme = text.lowercased().hasPrefix("sip:") || text.lowercased().hasPrefix("sips:")
    let uri = try SIPURI(parsing: hasScheme ? text : "sip:\(text)")
    guard uri.user == nil, uri.headers.isEmpty, uri.host != nil else {
      throw InvalidValue(
        kind: "trunk", rule: "trunk.uri", offset: nil, problem: "the URI holds more than a host to call",
        accepted: "a host with port and transport, such as sip:sip.example.com;transport=tls")
    }
    return uri
  }

  private static func proxy(_ text: String) throws(InvalidValue) -> SIPURI {
    var uri = try peer(text)
    // Without it the proxy would be a strict router (RFC 3261 section 16.12).
    if uri.parameters["lr"] == nil { uri.parameters.append(SIPParameter("lr")) }
    return uri
  }

  private static func account(_ section: ConfigurationSection, folder: URL) -> DigestAccount? {
    defer { section.finish() }
    let username = section.requiredText("username")
    let written = section.text("password")
    let file = section.text("password-file").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    let realm = section.text("realm")
    let algorithms = section.texts("algorithms", atMost: DigestAlgorithm.allCases.count)?.compactMap { entry in
      let algorithm = DigestAlgorithm(token: entry.text)
      if algorithm == nil {
        section.addProblem(
          "algorithms",
          "'\(CallFailure.shortened(entry.text))' is none of "
            + DigestAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))
      }
      return algorithm
    }
    guard (written == nil) != (file == nil) else {
      section.addProblem("one of 'password' and 'password-file' is needed", at: nil)
      return nil
    }
    var password = written ?? ""
    if let file {
      do {
        password = try ConfigurationFile.secret(file)
        if let problem = ConfigurationFile.modeProblem(file) { section.warn("password-file", problem) }
      } catch {
        section.addProblem("password-file", error.description)
      }
    }
    return username.map {
      DigestAccount(
        username: $0, password: Redacted(password), realm: realm,
        algorithms: algorithms.map(Set.init) ?? Set(DigestAlgorithm.allCases))
    }
  }

  private static func tls(_ section: ConfigurationSection, folder: URL) -> TLSClientPolicy {
    defer { section.finish() }
    func path(_ text: String) -> String { URL(fileURLWithPath: text, relativeTo: folder).path }
    var policy = TLSClientPolicy()
    let authorities = section.texts("authorities", atMost: 16)
    let fingerprints = section.texts("fingerprints", atMost: 16)
    if authorities != nil, fingerprints != nil {
      section.addProblem(
        "'authorities' and 'fingerprints' exclude each other: a pinned certificate needs no authority", at: nil)
    }
    if let authorities { policy.trust = .authorities(authorities.map { path($0.text) }) }
    if let fingerprints {
      policy.trust = .fingerprints(
        fingerprints.compactMap {
          section.entry("fingerprints", $0) { text throws(InvalidValue) in try CertificatePin(text).bytes }
        })
    }
    let certificate = section.text("certificate")
    let key = section.text("key")
    if let certificate, let key {
      policy.identity = TLSIdentityFiles(certificateChain: path(certificate), privateKey: path(key))
    } else if certificate != nil || key != nil {
      section.addProblem("'certificate' and 'key' go together", at: nil)
    }
    if let floor = section.choice("minimum", TLSVersionFloor.self) { policy.minimumVersion = floor }
    if let wildcards = section.flag("wildcard-names") { policy.allowsWildcardNames = wildcards }
    return policy
  }

  private enum Encryption: String, CaseIterable { case off, optional, required }

  private static func media(_ section: ConfigurationSection) -> MediaPolicy {
    let encryption = section.choice("srtp", Encryption.self) ?? .off
    var policy = MediaPolicy.trunk(
      encryption == .off ? .none : encryption == .required ? .sdes : [.none, .sdes])
    if let codecs = section.texts("codecs", atMost: AudioCodec.allCases.count) {
      let chosen = codecs.compactMap { entry -> AudioCodec? in
        let codec = AudioCodec.allCases.first { $0.rawValue.lowercased() == entry.text.lowercased() }
        if codec == nil {
          let words = AudioCodec.allCases.map { $0.rawValue.lowercased() }
          section.addProblem(
            "codecs", "'\(CallFailure.shortened(entry.text))' is none of \(words.joined(separator: ", "))")
        }
        return codec
      }
      if codecs.isEmpty { section.addProblem("codecs", "at least one is needed") }
      if !chosen.isEmpty { policy.codecs = chosen }
    }
    if let time = section.milliseconds("packet-time", in: 10...60) { policy.packetTime = Int(time) }
    return policy
  }

  private static func sessionTimer(_ section: ConfigurationSection) -> SessionTimerPolicy {
    defer { section.finish() }
    let isOn = section.flag("enabled") ?? true
    let interval = section.milliseconds("interval", in: 90_000...86_400_000) ?? 1_800_000
    let minimum = section.milliseconds("minimum", in: 90_000...86_400_000) ?? 90_000
    if minimum > interval { section.addProblem("minimum", "is longer than the interval") }
    return SessionTimerPolicy(interval: isOn ? UInt32(interval / 1000) : nil, minimum: UInt32(minimum / 1000))
  }

  private static func fromUser(
    _ text: String, _ account: DigestAccount?, in caller: ConfigurationSection
  ) -> CallerIdentityPolicy.FromUser {
    var user = text
    switch text {
    case "number": return .callerNumber
    case "account":
      guard let account else {
        caller.addProblem("from-user", "is 'account', and there is none")
        return .callerNumber
      }
      user = account.username
    default: break
    }
    guard let uri = try? SIPURI(parsing: "sip:\(user)@invalid"), uri.user == user else {
      caller.addProblem("from-user", "cannot stand before the @ of a URI; accepted: number, account, or a user's name")
      return .callerNumber
    }
    return .fixed(user)
  }

  private enum Assertion: String, CaseIterable {
    case none, asserted, preferred
  }

  private enum Form: String, CaseIterable { case sip, tel, both }

  private static func identity(
    _ caller: ConfigurationSection?, _ dial: ConfigurationSection?, host: SIPHost, account: DigestAccount?
  ) -> CallerIdentityPolicy {
    defer {
      caller?.finish()
      dial?.finish()
    }
    var policy = CallerIdentityPolicy(domain: host)
    if let caller {
      if let user = caller.text("from-user") {
        policy.fromUser = fromUser(user, account, in: caller)
      }
      if let domain = caller.value("domain", { try AdvertisedEndpoint($0).host }) { policy.domain = domain }
      if let names = caller.flag("display-names") { policy.sendsDisplayName = names }
      switch caller.choice("identity", Assertion.self) {
      case .some(.none): policy.assertion = .none
      case .preferred: policy.assertion = .preferred
      case .asserted, nil: policy.assertion = .asserted
      }
      switch caller.choice("identity-form", Form.self) {
      case .tel: policy.form = .tel
      case .both: policy.form = .both
      case .sip, nil: policy.form = .sip
      }
      policy.callerFormat = (caller.flag("plus") ?? true) ? .international : .digits
      policy.isTrusted = caller.flag("trusted") ?? false
      if let numbers = caller.texts("numbers", atMost: 10_000) {
        var owned: Set<E164Number> = []
        for entry in numbers {
          if let number = caller.entry("numbers", entry, { text throws(InvalidValue) in try E164Number(text) }) {
            owned.insert(number)
          }
        }
        policy.ownedNumbers = owned
      }
    }
    if let dial {
      let prefix = dial.text("prefix") ?? ""
      let keepsPlus = dial.flag("plus") ?? true
      do {
        policy.dialFormat = try DialFormat(prefix: prefix, keepsPlus: keepsPlus)
      } catch {
        dial.addProblem("prefix", "\(error.problem); accepted: \(error.accepted)")
      }
    }
    return policy
  }
}
