import Foundation
public import LandlineConfiguration

/// Whether users that have no part in the gateway may put files among those that it keeps: in such a folder they can
/// replace a ledger or plant one, whatever the files' own modes are.
public enum FolderCheck {
  /// The state folder and those of ledgers elsewhere. What is not there yet is made with a mode that shuts others out.
  public static func findings(_ configuration: GatewayConfiguration) -> [StartFinding] {
    var places = [(key: "state", folder: URL(fileURLWithPath: configuration.state).standardized.path)]
    for environment in configuration.environments {
      let folder = URL(fileURLWithPath: environment.ledger).standardized.deletingLastPathComponent().path
      if !places.contains(where: { $0.folder == folder }) {
        places.append(("environments.\(environment.name).ledger", folder))
      }
    }
    return places.compactMap { finding($0.key, $0.folder) }
  }

  private static func finding(_ key: String, _ folder: String) -> StartFinding? {
    // A link is as open as what it leads to.
    let path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue, mode & 0o002 != 0
    else { return nil }
    // A sticky folder such as /tmp belongs to everybody: its mode is right, and it is the wrong place.
    let isSticky = mode & 0o1000 != 0
    return StartFinding(
      key, "every user of this machine may put files into \(folder) (mode \(String(mode, radix: 8)))",
      fix: isSticky ? "a folder of the gateway's own, such as \(folder)/landline" : "chmod o-w \(folder)")
  }
}

/// A gateway that does not start, because of what its folders are open to.
public struct StartRefusal: Error, Sendable, CustomStringConvertible {
  /// At least one.
  public let findings: [StartFinding]

  /// All findings in one line, with `; ` between them.
  public var description: String { findings.map(\.description).joined(separator: "; ") }
}
