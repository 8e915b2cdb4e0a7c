internal import CallModel
internal import Foundation
internal import LandlineWire
internal import SIPCore

extension HTTPConfiguration {
  init(reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    self.init()
    if let bound = section.value("bind", { try NumericEndpoint($0, defaultPort: 8080, allowsAnyPort: true) }) {
      host = bound.host
      port = bound.port
    }
    if let advertised = section.value("advertise", { try AdvertisedEndpoint($0) }) {
      advertisedHost = advertised.host
      advertisedPort = advertised.port
    }
    let certificate = section.text("certificate").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    let key = section.text("key").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    let floor = section.choice("minimum-tls", TLSVersionFloor.self)
    if let certificate, let key {
      tls = TLSServerSettings(
        identity: TLSIdentityFiles(certificateChain: certificate, privateKey: key), minimumVersion: floor ?? .tls12)
    } else if certificate != nil || key != nil {
      section.addProblem("'certificate' and 'key' go together", at: nil)
    } else if floor != nil {
      section.addProblem("minimum-tls", "goes with 'certificate' and 'key' only")
    }
    for entry in section.texts("origins", atMost: HTTPConfiguration.maximumOrigins) ?? [] {
      if let origin = section.entry("origins", entry, HTTPConfiguration.origin) { origins.append(origin) }
    }
    for entry in section.texts("proxies", atMost: HTTPConfiguration.maximumProxies) ?? [] {
      if let proxy = section.entry("proxies", entry, HTTPConfiguration.proxy) { proxies.append(proxy) }
    }
    hasMetrics = section.flag("metrics") ?? true
    if let text = section.text("pages") { readPages(text, section, folder: folder) }
    if let bounds = section.section("limits") { limits = Limits(reading: bounds) }
    if tls == nil, !isLoopback, advertisedHost == nil {
      section.warn(
        nil, "plain HTTP on an address that others reach: keys and calls go in the open unless a proxy adds TLS")
    }
  }

  private mutating func readPages(_ text: String, _ section: ConfigurationSection, folder: URL) {
    switch text {
    case "true", "yes", "on": pages = .builtIn
    case "false", "no", "off": pages = .none
    default:
      let path = URL(fileURLWithPath: text, relativeTo: folder).path
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
        return section.addProblem(
          "pages", "'\(CallFailure.shortened(text))' is neither true nor false, nor a folder that exists")
      }
      pages = .folder(path)
    }
  }

  private var isLoopback: Bool {
    switch host {
    case .ipv4(let address): address >> 24 == 127
    case .ipv6(let high, let low): high == 0 && low == 1
    case .name: false
    }
  }

  /// A name could mean somebody else tomorrow.
  private static func proxy(_ text: String) throws(InvalidValue) -> SIPHost {
    let host = try? SIPHost(unbracketed: text)
    if let host, case .name = host {} else if let host { return host }
    throw InvalidValue(
      kind: "proxy", rule: "http.proxy", offset: nil, problem: "it is no numeric address",
      accepted: "the address that the proxy's connections come from, such as 192.0.2.10 or \"2001:db8::10\"")
  }

  /// `https://phone.example.com:8443`, as browsers write it: no path, no default port, lower-case.
  static func origin(_ text: String) throws(InvalidValue) -> String {
    func refusal(_ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "origin", rule: "http.origin", offset: nil, problem: problem,
        accepted: "a scheme, a host and a port where it is not the scheme's own, such as https://phone.example.com")
    }
    let lower = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: { lower.hasPrefix($0) }) else {
      throw refusal(text == "*" ? "any page of the world could place calls" : "it begins with no https:// or http://")
    }
    let authority = String(lower.dropFirst(scheme.count))
    guard !authority.isEmpty, !authority.contains(where: { "/?#@ ;,".contains($0) }) else {
      throw refusal("there is more, or less, than a host and a port")
    }
    let endpoint = try AdvertisedEndpoint(authority)
    let standard: UInt16 = scheme == "https://" ? 443 : 80
    guard endpoint.port != standard else { throw refusal("browsers leave the port \(standard) out") }
    return scheme + authority
  }
}

extension HTTPConfiguration.Limits {
  fileprivate init(reading section: ConfigurationSection) {
    defer { section.finish() }
    self.init()
    if let value = section.number("connections", in: 1...1_000_000) { connections = value }
    if let value = section.number("connections-per-host", in: 1...1_000_000) { connectionsPerHost = value }
    if let value = section.number("sessions", in: 1...1_000_000) { sessions = value }
    if let value = section.number("requests-per-second", in: 1...100_000) { requestsPerSecond = value }
    if let value = section.number("burst", in: 1...100_000) { requestBurst = value }
    if let value = section.number("registrations-per-second", in: 1...100_000) { registrationsPerSecond = value }
    if let value = section.number("body", in: 1024...16_777_216) { bodyBytes = value }
  }
}
