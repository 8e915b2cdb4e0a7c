internal import AppProtocol
internal import CallModel
internal import Foundation
internal import LandlineWire

extension MediaConfiguration {
  /// Ports below this belong to the system.
  private static let lowestPort: UInt16 = 1024

  init(reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    self.init()
    threads = section.number("threads", in: MediaConfiguration.threadRange) ?? 1
    if section.has("app") {
      app = section.sections("app", atMost: MediaConfiguration.maximumInterfaces).compactMap {
        Interface(reading: $0, hasPort: true).map {
          MediaLoopConfiguration.AppInterface(
            bind: $0.bind, port: $0.port, advertised: $0.advertised, admitsOnlyThisMachine: $0.admitsOnlyThisMachine)
        }
      }
    }
    if section.has("trunk") {
      trunk = section.sections("trunk", atMost: MediaConfiguration.maximumInterfaces).compactMap {
        Interface(reading: $0, hasPort: false).map {
          MediaLoopConfiguration.TrunkInterface(bind: $0.bind, advertised: $0.advertised, ports: $0.ports)
        }
      }
    }
    turn = section.section("turn").flatMap { TURNService(reading: $0, folder: folder) }
    check(section)
  }

  /// One entry of `app` or `trunk`.
  private struct Interface {
    var bind: SIPHost
    var advertised: SIPHost?
    var port = MediaConfiguration.standardAppPort
    var ports = MediaLoopConfiguration.TrunkInterface.standardPorts
    var admitsOnlyThisMachine = false

    init?(reading section: ConfigurationSection, hasPort: Bool) {
      defer { section.finish() }
      _ = section.requiredText("bind")
      let bound = section.value("bind", MediaConfiguration.address)
      advertised = section.value("advertise", MediaConfiguration.address)
      if hasPort {
        admitsOnlyThisMachine = section.flag("only-this-machine") ?? false
        if let value = section.number("port", in: 0...65_535) {
          port = UInt16(clamping: value)
          if (1..<MediaConfiguration.lowestPort).contains(port) {
            section.addProblem(
              "port", "\(port) belongs to the system; accepted: \(MediaConfiguration.lowestPort) to 65535, or 0 for any"
            )
          }
        }
      } else if let range = section.value("ports", MediaConfiguration.ports) {
        ports = range
      }
      guard let bound else { return nil }
      if MediaConfiguration.isWildcard(bound), advertised == nil {
        section.addProblem(
          "'advertise' is missing: bound to all addresses, it must say which one peers shall use", at: nil)
        return nil
      }
      bind = bound
    }
  }

  /// What no single key shows.
  private func check(_ section: ConfigurationSection) {
    for (index, interface) in app.enumerated() {
      let ports = appPorts(interface)
      if ports.upperBound > 65_535 {
        section.addProblem("app", "entry \(index + 1): \(threads) threads from port \(interface.port) on go past 65535")
      }
      for (other, earlier) in app[..<index].enumerated()
      where MediaConfiguration.share(interface.bind, earlier.bind) && appPorts(earlier).overlaps(ports) {
        section.addProblem(
          "app", "entry \(index + 1): has ports of entry \(other + 1); each thread takes one, from 'port' on")
      }
      for (other, side) in trunk.enumerated()
      where MediaConfiguration.share(interface.bind, side.bind)
        && (Int(side.ports.lowerBound)...Int(side.ports.upperBound)).overlaps(ports)
      {
        section.addProblem("app", "entry \(index + 1): its ports lie within those of trunk entry \(other + 1)")
      }
    }
    for (index, interface) in trunk.enumerated() {
      for (other, earlier) in trunk[..<index].enumerated()
      where MediaConfiguration.share(interface.bind, earlier.bind) && earlier.ports.overlaps(interface.ports) {
        section.addProblem("trunk", "entry \(index + 1): its ports overlap those of entry \(other + 1)")
      }
      if MediaLoopConfiguration.TrunkInterface.parts(of: interface.ports, into: threads).isEmpty {
        section.addProblem("trunk", "entry \(index + 1): there are fewer pairs of ports than threads")
      }
    }
  }

  /// The ports of all threads.
  func appPorts(_ interface: MediaLoopConfiguration.AppInterface) -> ClosedRange<Int> {
    Int(interface.port)...Int(interface.port) + threads - 1
  }

  static func isWildcard(_ host: SIPHost) -> Bool { host == .ipv4(0) || host == .ipv6(high: 0, low: 0) }

  /// Whether two bound addresses may be one: the same, or one of them all of the family.
  static func share(_ first: SIPHost, _ second: SIPHost) -> Bool {
    if first == second { return true }
    switch (first, second) {
    case (.ipv4, .ipv4), (.ipv6, .ipv6): return isWildcard(first) || isWildcard(second)
    default: return false
    }
  }

  private static func address(_ text: String) throws(InvalidValue) -> SIPHost {
    let endpoint = try NumericEndpoint(text, defaultPort: 0)
    guard endpoint.port == 0 else {
      throw InvalidValue(
        kind: "address", rule: "media.bind", offset: nil, problem: "a port stands where only an address belongs",
        accepted: "a numeric address such as 192.0.2.1, with the ports in a key of their own")
    }
    return endpoint.host
  }

  /// `16384-32767`.
  private static func ports(_ text: String) throws(InvalidValue) -> ClosedRange<UInt16> {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let first = UInt16(parts[0]), let last = UInt16(parts[1]), first >= lowestPort,
      Int(first) + 1 <= Int(last)
    else {
      throw InvalidValue(
        kind: "ports", rule: "media.ports", offset: nil, problem: "it is no range of ports",
        accepted: "two numbers from \(lowestPort) to 65535, such as 16384-32767")
    }
    return first...last
  }
}

extension TURNService {
  init?(reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    if !section.has("servers") {
      section.addProblem("'servers' is missing", at: nil, fix: "servers: [\"turns:turn.example.com\"]")
    }
    let listed = section.texts("servers", atMost: TURNAccess.maximumServers)
    var servers: [TURNServer] = []
    for entry in listed ?? [] {
      guard let server = section.entry("servers", entry, { text throws(InvalidValue) in try TURNServer(text) }) else {
        continue
      }
      if servers.contains(server) { section.addProblem("servers", "entry \(entry.index + 1): stands there already") }
      servers.append(server)
    }
    if let listed, listed.isEmpty { section.addProblem("servers", "names no server") }
    let secret = section.printableSecret("secret-file", "secret", of: TURNService.secretLength, folder: folder)
    let lifetime = section.seconds("lifetime", in: TURNService.lifetimeSeconds) ?? TURNService.standardLifetimeSeconds
    guard !servers.isEmpty, let secret else { return nil }
    self.init(servers: servers, secret: secret, lifetimeSeconds: lifetime)
  }
}
