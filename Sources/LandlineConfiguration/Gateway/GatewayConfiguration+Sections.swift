internal import AppProtocol
internal import CallEngine
internal import CallModel
internal import Foundation
internal import LandlineWire
internal import RoutingCore
internal import SIPCore

extension GatewayConfiguration {
  /// The state folder: what the file or somebody above it says, else what the service manager made, else the standard.
  static func state(_ root: ConfigurationSection, folder: URL) -> String {
    guard let text = root.text("state") else {
      return root.document.overrides.stateDirectory ?? GatewayConfiguration.standardState
    }
    // A flag or a variable means the folder that the command runs in.
    let isOutside = root.document.overrides["state"] != nil
    return (isOutside ? URL(fileURLWithPath: text) : URL(fileURLWithPath: text, relativeTo: folder)).path
  }

  static func listeners(_ root: ConfigurationSection, folder: URL) -> [ListenerConfiguration] {
    var listeners: [ListenerConfiguration] = []
    for (index, entry) in root.named("listeners", atMost: maximumListeners).enumerated() {
      if let listener = ListenerConfiguration(
        entry.name, number: UInt16(index + 1), reading: entry.section, folder: folder)
      {
        if let twin = listeners.first(where: { $0.isBound(like: listener) }) {
          entry.section.addProblem("is bound to the same address, port and transport as '\(twin.name)'", at: nil)
        }
        listeners.append(listener)
      }
    }
    return listeners
  }

  /// - Parameter stir: Whose signatures of callers are believed.
  static func trunks(_ root: ConfigurationSection, folder: URL, stir: StirConfiguration) -> [TrunkConfiguration] {
    var trunks: [TrunkConfiguration] = []
    var sections: [ConfigurationSection] = []
    for entry in root.named("trunks", atMost: maximumTrunks) {
      guard let trunk = TrunkConfiguration(entry.name, reading: entry.section, folder: folder) else { continue }
      if trunk.inbound.stir != .off, stir.authorityFiles.isEmpty {
        entry.section.addProblem(
          "stir",
          "is '\(trunk.inbound.stir.rawValue)', and 'stir.authorities' names nobody whose signatures are believed",
          fix: "off, or add 'stir: {authorities: [FILE.pem]}' to the file")
      }
      trunks.append(trunk)
      sections.append(entry.section)
    }
    shareTLS(&trunks, sections)
    return trunks
  }

  /// A connection is shared by all trunks behind one host, so it can be judged in one way only: what one of them says
  /// holds for those that say nothing, and two cannot say different things.
  private static func shareTLS(_ trunks: inout [TrunkConfiguration], _ sections: [ConfigurationSection]) {
    var said: [SIPHost: (policy: TLSClientPolicy, trunk: String)] = [:]
    /// Whether nobody said otherwise of the trunk's hosts; these are then judged so.
    func say(_ policy: TLSClientPolicy, _ place: Int) -> Bool {
      let name = trunks[place].trunk.name
      for host in trunks[place].hosts {
        if let other = said[host], other.policy != policy {
          sections[place].addProblem(
            "tls", "differs from that of trunk '\(other.trunk)', which has the same host",
            fix: "leave it out: what '\(other.trunk)' says holds for every trunk of the host")
          return false
        }
      }
      for host in trunks[place].hosts where said[host] == nil { said[host] = (policy, name) }
      return true
    }
    for place in trunks.indices {
      if let policy = trunks[place].tls { _ = say(policy, place) }
    }
    // A trunk may hand on what it took over, to those that share another of its hosts.
    var silent = trunks.indices.filter { trunks[$0].tls == nil }
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for place in silent {
        let hosts = trunks[place].hosts.sorted { "\($0)" < "\($1)" }
        guard let other = hosts.lazy.compactMap({ said[$0] }).first else { continue }
        trunks[place].tls = other.policy
        _ = say(other.policy, place)
        hasChanged = true
      }
      silent.removeAll { trunks[$0].tls != nil }
    }
  }

  /// What telephones are challenged for; `nil` where the section does not say it.
  static func algorithms(_ section: ConfigurationSection) -> [DigestAlgorithm]? {
    defer { section.finish() }
    let known = RegistrarLimits.standard.algorithms
    let words = known.map(\.rawValue)
    guard let entries = section.texts("algorithms", atMost: known.count) else { return nil }
    var algorithms: [DigestAlgorithm] = []
    for entry in entries {
      if let algorithm = DigestAlgorithm(token: entry.text), known.contains(algorithm) {
        if !algorithms.contains(algorithm) { algorithms.append(algorithm) }
      } else {
        let hint = Spelling.nearest(to: entry.text, among: words).map { " (did you mean '\($0)'?)" } ?? ""
        section.addProblem(
          "algorithms",
          "'\(CallFailure.shortened(entry.text))' is none of \(words.joined(separator: ", "))\(hint)",
          fix: "[\(words.joined(separator: ", "))]")
      }
    }
    guard !algorithms.isEmpty else {
      if entries.isEmpty { section.addProblem("algorithms", "is empty: no telephone could register") }
      return nil
    }
    return algorithms
  }

  static func environments(
    _ root: ConfigurationSection, folder: URL, state: URL, trunks: [String]
  ) -> [EnvironmentConfiguration] {
    var environments: [EnvironmentConfiguration] = []
    // A key says which environment a request is for, so no two may share one.
    var applications: [String: String] = [:]
    var people: [Redacted<String>: String] = [:]
    var ledgers: [String: String] = [:]
    // A call comes with nothing but the number.
    var numbers: [E164Number: String] = [:]
    // A telephone says its name before anything else is known of it.
    var telephones: [String: String] = [:]
    for entry in root.named("environments", atMost: EnvironmentConfiguration.maximumEnvironments) {
      guard
        let environment = EnvironmentConfiguration(
          entry.name, reading: entry.section, folder: folder, state: state, trunks: trunks)
      else { continue }
      for application in environment.applications {
        let place = "environments.\(environment.name).applications.\(application.name)"
        if let other = applications.updateValue(place, forKey: application.key) {
          entry.section.addProblem("application '\(application.name)' has the key of \(other)", at: nil)
        }
      }
      for person in environment.operators {
        let place = "environments.\(environment.name).operators.\(person.name)"
        if let other = people.updateValue(place, forKey: person.key) {
          entry.section.addProblem("operator '\(person.name)' has the key of \(other)", at: nil)
        }
      }
      for person in environment.owners {
        let place = "environments.\(environment.name).owners.\(person.name)"
        if let other = people.updateValue(place, forKey: person.key) {
          entry.section.addProblem("owner '\(person.name)' has the key of \(other)", at: nil)
        }
      }
      for row in environment.numbers {
        if let other = numbers.updateValue(environment.name, forKey: row.number) {
          entry.section.addProblem("numbers", "\(row.number) stands in '\(other)' too: its calls could go to one only")
        }
      }
      for row in environment.deskPhones {
        if let other = telephones.updateValue(environment.name, forKey: row.name) {
          entry.section.addProblem(
            "desk-phones", "'\(row.name)' stands in '\(other)' too: nobody could tell them apart")
        }
      }
      if let other = ledgers.updateValue(environment.name, forKey: environment.ledger) {
        entry.section.addProblem("ledger", "is the ledger of '\(other)' too: their money would mix")
      }
      environments.append(environment)
    }
    return environments
  }

  /// Ports of media and of signalling on one address.
  static func check(_ media: MediaConfiguration, _ listeners: [ListenerConfiguration], at section: ConfigurationSection)
  {
    for listener in listeners where listener.listener.transport == .udp {
      let (host, port) = (listener.listener.host, Int(listener.listener.port))
      if media.app.contains(where: {
        MediaConfiguration.share($0.bind, host) && media.appPorts($0).contains(port)
      }) {
        section.addProblem("app", "takes port \(port), which listener '\(listener.name)' has")
      }
      if media.trunk.contains(where: {
        MediaConfiguration.share($0.bind, host) && $0.ports.contains(listener.listener.port)
      }) {
        section.addProblem("trunk", "the ports contain \(port), which listener '\(listener.name)' has")
      }
    }
  }

  /// A call may begin with credentials that have half of their time left, and needs them until it ends.
  static func check(_ turn: TURNService, _ calls: EngineConfiguration.Limits, at section: ConfigurationSection) {
    guard turn.lifetimeSeconds / 2 < calls.maximumCallSeconds else { return }
    section.warn(
      "lifetime",
      "is less than twice calls.maximum-length, \(duration(calls.maximumCallSeconds * 1000)): a relay may end before the call"
    )
  }

  static func check(_ http: HTTPConfiguration, _ listeners: [ListenerConfiguration], at section: ConfigurationSection) {
    for listener in listeners
    where listener.listener.transport != .udp && listener.listener.port == http.port && http.port != 0
      && MediaConfiguration.share(listener.listener.host, http.host)
    {
      section.addProblem("bind", "takes port \(http.port), which listener '\(listener.name)' has")
    }
  }
}
