public import CallModel
internal import Foundation
internal import SIPCore

/// `hep`: where copies of SIP messages and reports of quality go, for a collector that speaks HEP3.
public struct HEPConfiguration: Hashable, Sendable {
  /// Numeric.
  public var host: SIPHost
  /// UDP.
  public var port: UInt16
  /// Tells this gateway apart at the collector.
  public var captureID: UInt32
  /// What the collector wants with each packet.
  public var password: Redacted<String>?

  /// Taken where `collector` names no port.
  public static let standardPort: UInt16 = 9060
  /// Taken where the file has no `capture-id`.
  public static let standardCaptureID: UInt32 = 2001

  init?(reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    let had = section.requiredText("collector") != nil
    let collector = section.value("collector") {
      try NumericEndpoint($0, defaultPort: HEPConfiguration.standardPort)
    }
    let captureID = section.number("capture-id", in: 1...Int(Int32.max)).map { UInt32($0) }
    let password = section.text("password-file").flatMap { section.secret("password-file", $0, folder: folder) }
    guard had, let collector else { return nil }
    host = collector.host
    port = collector.port
    self.captureID = captureID ?? HEPConfiguration.standardCaptureID
    self.password = password.map { Redacted($0) }
  }
}
