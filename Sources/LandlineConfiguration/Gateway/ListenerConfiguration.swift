internal import CallModel
internal import Foundation
public import LandlineWire
internal import SIPCore

/// One entry of `listeners`.
public struct ListenerConfiguration: Hashable, Sendable {
  /// Its key in the file, for problems and lists.
  public let name: String
  /// What a node opens.
  public let listener: SIPListener

  /// Port 0 is another one each time.
  func isBound(like other: ListenerConfiguration) -> Bool {
    let (mine, others) = (listener, other.listener)
    return mine.transport == others.transport && mine.host == others.host && mine.port == others.port && mine.port != 0
  }

  init?(_ name: String, number: UInt16, reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    let transport = section.choice("transport", SIPTransport.self) ?? .udp
    let bound = section.value("bind") { try NumericEndpoint($0, defaultPort: transport == .tls ? 5061 : 5060) }
    let advertised = section.value("advertise") { try AdvertisedEndpoint($0) }
    let certificate = section.text("certificate").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    let key = section.text("key").map { URL(fileURLWithPath: $0, relativeTo: folder).path }
    let floor = section.choice("minimum-tls", TLSVersionFloor.self)
    let authorities = (section.texts("client-authorities", atMost: 16) ?? []).map {
      URL(fileURLWithPath: $0.text, relativeTo: folder).path
    }
    if transport != .tls, certificate != nil || key != nil || floor != nil || !authorities.isEmpty {
      section.addProblem("certificate, key, minimum-tls and client-authorities go with 'transport: tls' only", at: nil)
    }
    var settings: TLSServerSettings?
    if transport == .tls {
      guard let certificate, let key else {
        section.addProblem("a TLS listener needs 'certificate' and 'key', two PEM files", at: nil)
        return nil
      }
      settings = TLSServerSettings(
        identity: TLSIdentityFiles(certificateChain: certificate, privateKey: key), minimumVersion: floor ?? .tls12,
        clientAuthorities: authorities)
    }
    if !section.has("bind") {
      section.addProblem("'bind' is missing: an address of this machine, such as 192.0.2.1:5060", at: nil)
    }
    guard let bound else { return nil }
    let isWildcard = bound.host == .ipv4(0) || bound.host == .ipv6(high: 0, low: 0)
    if isWildcard, advertised == nil {
      section.addProblem(
        "'advertise' is missing: bound to all addresses, it must say which one peers shall use", at: nil)
      return nil
    }
    self.name = name
    listener = SIPListener(
      id: ListenerID(number), transport: transport, host: bound.host, port: bound.port,
      advertisedHost: advertised?.host, advertisedPort: advertised?.port, tls: settings)
  }
}
