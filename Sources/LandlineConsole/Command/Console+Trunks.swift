import CallEngine
import CallModel
import Foundation
import LandlineConfiguration
import LandlineNode
import LandlineResolver
import LandlineWire
import RoutingCore
import SDPCore
import SIPCore

extension Console {
  package func trunkList() async throws -> Answer {
    let configuration = try readConfiguration(configurationPath())
    return Answer(
      "trunks",
      Listing(
        [
          Column("name"), Column("uri"), Column("account"), Column("registers"), Column("codecs"), Column("srtp"),
          Column("priority", .number), Column("weight", .number), Column("max_calls", title: "max calls", .number),
          Column("drained"),
        ],
        rows: configuration.trunks.map { trunk in
          [
            .text(trunk.trunk.name), .text(TrunkText.text(trunk.uri)), .text(optional: trunk.account?.username),
            .flag(trunk.registrationSeconds != nil), .list(trunk.media.codecs.map { TrunkText.text($0) }),
            .text(TrunkText.text(trunk.media.protection)), .integer(Int64(trunk.trunk.priority)),
            .integer(Int64(trunk.trunk.weight)),
            .integer(optional: trunk.trunk.limits.concurrentCalls.map { Int64($0) }),
            .flag(trunk.trunk.isDraining),
          ]
        }))
  }

  /// Everything that holds for one trunk, what the file leaves out included. No password.
  package func trunkShow(_ name: String) async throws -> Answer {
    let path = configurationPath()
    let trunk = try trunk(name, in: try readConfiguration(path), path)
    let rules = trunk.trunk
    let identity = trunk.identity
    let fromUser =
      switch identity.fromUser {
      case .callerNumber: "number"
      case .fixed(let user): user
      }
    let assertion =
      switch identity.assertion {
      case .none: "none"
      case .asserted: "asserted"
      case .preferred: "preferred"
      }
    let trust: String? = trunk.tls.map { tls in
      switch tls.trust {
      case .system: "system"
      case .authorities(let files): files.joined(separator: " ")
      case .fingerprints(let pins): pins.map(TrunkText.hexadecimal).joined(separator: " ")
      }
    }
    let cells: [(Column, Cell)] = [
      (Column("name"), .text(rules.name)),
      (Column("uri"), .text(TrunkText.text(trunk.uri))),
      (Column("proxies"), .list(trunk.proxies.map(TrunkText.text))),
      (Column("account"), .text(optional: trunk.account?.username)),
      (Column("realm"), .text(optional: trunk.account?.realm)),
      (
        Column("register_seconds", title: "registers for (s)", .number),
        .integer(optional: trunk.registrationSeconds.map { Int64($0) })
      ),
      (Column("tls_trust", title: "TLS trust"), .text(optional: trust)),
      (Column("codecs"), .list(trunk.media.codecs.map { TrunkText.text($0) })),
      (Column("packet_time", title: "packet time (ms)", .number), .integer(Int64(trunk.media.packetTime))),
      (Column("srtp"), .text(TrunkText.text(trunk.media.protection))),
      (Column("from_user", title: "From user"), .text(fromUser)),
      (Column("from_domain", title: "From domain"), .text("\(identity.domain)")),
      (Column("identity"), .text(assertion)),
      (Column("caller_plus", title: "caller with +"), .flag(identity.callerFormat.keepsPlus)),
      (Column("numbers"), .list((identity.ownedNumbers ?? []).sorted().map { "\($0)" })),
      (Column("dial_prefix", title: "dial prefix"), .text(identity.dialFormat.prefix)),
      (Column("dial_plus", title: "dialled with +"), .flag(identity.dialFormat.keepsPlus)),
      (Column("ring_timeout", title: "ring timeout"), .text(TrunkText.duration(trunk.ringTimeoutMilliseconds))),
      (Column("redirections", .number), .integer(Int64(trunk.maximumRedirections))),
      (Column("trusts_identity", title: "trusts identity"), .flag(trunk.inbound.trustsIdentity)),
      (Column("inbound_numbers", title: "inbound numbers"), .text(TrunkText.text(trunk.inbound.numberFormat))),
      (Column("transfers"), .flag(trunk.inbound.allowsTransfer)),
      (Column("foreign_callers", title: "foreign callers"), .flag(trunk.inbound.takesForeignCallers)),
      (Column("sources"), .list(trunk.inbound.sources.map { "\($0)" })),
      (Column("ping"), .text(TrunkText.duration(rules.healthPolicy.intervalMilliseconds))),
      (Column("priority", .number), .integer(Int64(rules.priority))),
      (Column("weight", .number), .integer(Int64(rules.weight))),
      (
        Column("max_calls", title: "max calls", .number),
        .integer(optional: rules.limits.concurrentCalls.map { Int64($0) })
      ),
      (
        Column("calls_per_second", title: "calls a second", .number),
        .integer(optional: rules.limits.callsPerSecond.map { Int64($0) })
      ),
      (Column("drained"), .flag(rules.isDraining)),
    ]
    return Answer(record: Listing(cells.map(\.0), rows: [cells.map(\.1)]))
  }

  /// Looks at one trunk and tells each step as it is done.
  package func trunkTest(_ options: TrunkTestOptions) async throws -> Answer {
    let settings = try trunkTestSettings(options)
    if let number = settings.number { try remark("a real call attempt goes to", "\(number)") }
    var steps: [TrunkStep] = []
    let isColored = isColored
    let format = self.settings.format
    let test = TrunkTest(settings) { step in
      steps.append(step)
      switch format {
      case .table: try TextStream.standardOutput.write(step.lines(isColored: isColored))
      case .ndjson: try TextStream.standardOutput.write(step.json.line + "\n")
      case .json, .csv: break
      }
    }
    let worst = try await test.run()
    let listing = Listing(TrunkStep.columns, rows: steps.map(\.row))
    var answer = Answer(
      blocks: [],
      members: [
        ("trunk", .string(settings.name)), ("uri", .string(TrunkText.text(settings.trunk.uri))),
        ("verdict", .string(worst.rawValue)), ("steps", .array(steps.map(\.json))),
      ], records: listing)
    if format == .ndjson || format == .table { answer = .streamed(notes: []) }
    answer.status = worst == .fail ? .refused : .ok
    return answer
  }

  private func trunkTestSettings(_ options: TrunkTestOptions) throws -> TrunkTest.Settings {
    let lowercased = options.subject.lowercased()
    let seconds = Int(try now().milliseconds / 1000)
    var settings: TrunkTest.Settings
    if lowercased.hasPrefix("sip:") || lowercased.hasPrefix("sips:") {
      let trunk = try Arguments.value("URI") { () throws(InvalidValue) in
        try TrunkConfiguration(name: "uri", uri: options.subject)
      }
      settings = TrunkTest.Settings(trunk: trunk, name: options.subject, seconds: seconds)
    } else {
      let path = configurationPath()
      let configuration = try readConfiguration(path)
      if let farEnd = try farEnd(options.subject, configuration) {
        settings = TrunkTest.Settings(trunk: farEnd, name: options.subject, seconds: seconds)
      } else {
        settings = TrunkTest.Settings(
          trunk: try trunk(options.subject, in: configuration, path), name: options.subject, file: path,
          seconds: seconds)
      }
      settings.listeners = configuration.listeners.map(\.listener)
    }
    settings.timeoutMilliseconds = try duration(options.timeout, "--timeout", 100...60_000)
    settings.ringMilliseconds = try duration(options.ringing, "--ring-for", 0...60_000)
    settings.registers = options.registers
    settings.nameServers = try options.nameServers.map { text in
      let address = try Arguments.value("--name-server") { () throws(InvalidValue) in
        try ResolverConfiguration.Server(parsing: text)
      }
      return address
    }
    guard settings.nameServers.count <= ResolverConfiguration.maximumServers else {
      throw ConsoleError.usage(
        "nameServers.many", "more than \(ResolverConfiguration.maximumServers) name servers", at: "--name-server",
        fix: "the first ones answer")
    }
    try readAccount(options, into: &settings.trunk)
    try readTrust(options, into: &settings.trunk)
    try readNumbers(options, into: &settings)
    if settings.registers, settings.trunk.account == nil {
      throw ConsoleError.usage(
        "account.missing", "there is no account to register", at: "--register", fix: "--user and --password-file")
    }
    return settings
  }

  /// The built-in far end as a trunk, where its name is meant: only the gateway that runs knows its port.
  /// - Throws: ``ConsoleError`` where none runs.
  private func farEnd(_ name: String, _ configuration: GatewayConfiguration) throws -> TrunkConfiguration? {
    guard name == CallTrunk.farEnd, configuration.trunk(name) == nil else { return nil }
    guard let uri = finder().gateway?.places.farEnd else {
      throw ConsoleError(
        .notReachable, code: "farEnd", "the far end inside a gateway answers only while the gateway runs", at: name,
        fix: "landline dev, or an environment with sandbox-numbers: true")
    }
    return try Arguments.value("TRUNK") { () throws(InvalidValue) in try TrunkConfiguration(name: name, uri: uri) }
  }

  private func duration(_ text: String, _ argument: String, _ range: ClosedRange<Int64>) throws -> Int64 {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let unit: Int64? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s", "": 1000
      default: nil
      }
    guard let unit, let number = Int64(digits), number <= 60_000, range.contains(number * unit) else {
      throw ConsoleError.usage(
        "timeout.value", "time: \"\(TrunkText.clean(text))\" is none that can be waited", at: argument,
        fix: "\(TrunkText.duration(range.lowerBound)) to 60s")
    }
    return number * unit
  }

  private func readAccount(_ options: TrunkTestOptions, into trunk: inout TrunkConfiguration) throws {
    guard let user = options.user else {
      if options.passwordFile != nil || options.realm != nil {
        throw ConsoleError.usage("account.user", "a password or realm without a user", at: "--user", fix: "--user NAME")
      }
      return
    }
    guard let file = options.passwordFile else {
      throw ConsoleError.usage(
        "account.password", "a user without a password", at: "--password-file",
        fix: "a file whose first line is the password")
    }
    do throws(ConfigurationProblems) {
      trunk.account = DigestAccount(
        username: user, password: Redacted(try ConfigurationFile.secret(file)), realm: options.realm)
    } catch {
      throw ConsoleError.usage(
        "account.passwordFile", "the password file \(error.all.first?.problem ?? "cannot be read")", at: file,
        fix: "a file whose first line is the password")
    }
    guard let uri = try? SIPURI(parsing: "sip:\(user)@invalid"), uri.user == user else {
      throw ConsoleError.usage(
        "account.user", "user: it cannot stand before the @ of a URI", at: "--user",
        fix: "escape special characters with %")
    }
  }

  private func readTrust(_ options: TrunkTestOptions, into trunk: inout TrunkConfiguration) throws {
    guard options.authorities.isEmpty || options.pins.isEmpty else {
      throw ConsoleError.usage(
        "tls.trust", "a pinned certificate needs no authority", at: "--ca, --pin", fix: "one of the two")
    }
    var policy = trunk.tls ?? TLSClientPolicy()
    if !options.authorities.isEmpty { policy.trust = .authorities(options.authorities) }
    if !options.pins.isEmpty {
      policy.trust = .fingerprints(
        try options.pins.map { pin in
          try Arguments.value("--pin") { () throws(InvalidValue) in try CertificatePin(pin).bytes }
        })
    }
    if policy != trunk.tls ?? TLSClientPolicy() { trunk.tls = policy }
  }

  private func readNumbers(_ options: TrunkTestOptions, into settings: inout TrunkTest.Settings) throws {
    let order: TrunkTestOrder
    do throws(InvalidValue) {
      order = try TrunkTestOrder(number: options.number, caller: options.caller)
    } catch {
      throw ConsoleError(error, in: error.kind == "caller" ? "--from" : "--number")
    }
    settings.caller = order.caller
    guard let number = order.number else { return }
    settings.number = number
    guard settings.caller == nil else { return }
    settings.caller = TrunkTest.usualCaller(of: settings.trunk)
    guard settings.caller != nil || settings.trunk.account != nil else {
      throw ConsoleError.usage(
        "caller.missing", "nobody is known who could call", at: "--from",
        fix: "--from +E164, or 'numbers' under 'caller' in the trunk")
    }
  }
}

extension ResolverConfiguration.Server {
  /// `192.0.2.53`, `192.0.2.53:5353`, `[2001:db8::53]`.
  fileprivate init(parsing text: String) throws(InvalidValue) {
    let refusal = InvalidValue(
      kind: "name server", rule: "nameServer.address", offset: nil, problem: "it is no numeric address",
      accepted: "a numeric address with an optional port, such as 192.0.2.53:53 or [2001:db8::53]")
    guard let uri = try? SIPURI(parsing: "sip:\(text)"), uri.user == nil, uri.parameters.isEmpty, uri.headers.isEmpty,
      let host = uri.host
    else { throw refusal }
    if case .name = host { throw refusal }
    self.init(host, port: uri.port ?? 53)
  }
}
