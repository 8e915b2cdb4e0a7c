internal import CallModel
internal import Foundation
public import LandlineGateway
internal import RoutingCore
internal import SIPCore

/// What one configuration file says.
public struct GatewayConfiguration: Sendable {
  /// Most listeners of a node.
  public static let maximumListeners = 64
  /// Most trunks of a node.
  public static let maximumTrunks = 1024

  /// In the order of the file, numbered from 1.
  public var listeners: [ListenerConfiguration]
  /// In the order of the file.
  public var trunks: [TrunkConfiguration]

  /// Reads the text of a configuration file.
  /// - Parameters:
  ///   - file: Stands in problems, and is where relative paths of other files start.
  /// - Throws: ``ConfigurationProblems`` with all problems of the file.
  public init(_ text: String, file: String) throws(ConfigurationProblems) {
    let document = ConfigurationDocument(text, file: file)
    let root = ConfigurationSection(document)
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    var listeners: [ListenerConfiguration] = []
    for (index, entry) in root.named("listeners", atMost: GatewayConfiguration.maximumListeners).enumerated() {
      if let listener = ListenerConfiguration(
        entry.name, number: UInt16(index + 1), reading: entry.section, folder: folder)
      {
        if let twin = listeners.first(where: { $0.isBound(like: listener) }) {
          entry.section.note("is bound to the same address, port and transport as '\(twin.name)'", at: nil)
        }
        listeners.append(listener)
      }
    }
    var trunks: [TrunkConfiguration] = []
    for entry in root.named("trunks", atMost: GatewayConfiguration.maximumTrunks) {
      guard let trunk = TrunkConfiguration(entry.name, reading: entry.section, folder: folder) else { continue }
      // A connection is shared by all trunks behind one host, so it can be judged in one way only.
      if let other = trunks.first(where: { $0.tls != trunk.tls && !$0.hosts.isDisjoint(with: trunk.hosts) }) {
        entry.section.note("tls", "differs from that of trunk '\(other.trunk.name)', which has the same host")
      }
      trunks.append(trunk)
    }
    root.finish()
    try document.finish()
    self.listeners = listeners
    self.trunks = trunks
  }

  /// Reads a configuration file.
  /// - Throws: ``ConfigurationProblems``.
  public init(path: String) throws(ConfigurationProblems) {
    self = try GatewayConfiguration(
      ConfigurationFile.text(path, atMost: ConfigurationDocument.maximumBytes), file: path)
  }

  /// The trunk with this name.
  public func trunk(_ name: String) -> TrunkConfiguration? { trunks.first { $0.trunk.name == name } }

  /// How the TLS servers of all trunks are judged.
  public var tlsClients: TLSClientPolicies {
    var policies = TLSClientPolicies()
    for trunk in trunks {
      guard let policy = trunk.tls else { continue }
      for host in trunk.hosts {
        if case .name(let name) = host {
          policies.byServerName[name.lowercased()] = policy
        } else {
          policies.byHost[host] = policy
        }
      }
    }
    return policies
  }
}
