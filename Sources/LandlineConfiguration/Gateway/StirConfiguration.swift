public import CallModel
internal import Foundation
public import SIPCore

/// `stir`: whose signatures of callers are believed, and how their certificates are fetched.
public struct StirConfiguration: Hashable, Sendable {
  /// Most files of authorities, of callers and of web servers each.
  public static let maximumFiles = 16

  /// Files with the certificates of those who may sign certificates of callers.
  public var authorityFiles: [String] = []
  /// What they hold.
  public var authorities = IdentityAuthorities()
  /// Files with the certificates of those who may sign certificates of web servers; empty for those whom the system trusts.
  public var webAuthorityFiles: [String] = []
  /// Which addresses certificates of callers are fetched from, and who vouches for their servers.
  public var fetches = WebFetchPolicy()

  /// Nobody is believed.
  public init() {}

  init(reading section: ConfigurationSection, folder: URL) {
    defer { section.finish() }
    func read(_ key: String) -> (files: [String], pems: [[UInt8]]) {
      var files: [String] = []
      var pems: [[UInt8]] = []
      for entry in section.texts(key, atMost: StirConfiguration.maximumFiles) ?? [] {
        let path = URL(fileURLWithPath: entry.text, relativeTo: folder).path
        do {
          let text = try ConfigurationFile.text(path, atMost: IdentityAuthorities.maximumFileBytes)
          _ = try IdentityAuthorities(pems: [Array(text.utf8)])
          files.append(path)
          pems.append(Array(text.utf8))
        } catch let error as InvalidValue {
          section.addProblem(key, "\(path): \(error.problem); accepted: \(error.accepted)", fix: error.accepted)
        } catch {
          section.addProblem(key, "\(error)")
        }
      }
      return (files, pems)
    }
    let callers = read("authorities")
    authorityFiles = callers.files
    if !callers.pems.isEmpty {
      do throws(InvalidValue) {
        authorities = try IdentityAuthorities(pems: callers.pems)
      } catch {
        section.addProblem("authorities", "\(error.problem); accepted: \(error.accepted)", fix: error.accepted)
      }
    }
    let web = read("web-authorities")
    webAuthorityFiles = web.files
    fetches.authorities = web.pems.isEmpty ? nil : web.pems
    fetches.gate.allowed = (section.texts("internal-addresses", atMost: AddressGate.maximumRanges) ?? []).compactMap {
      section.entry("internal-addresses", $0) { text throws(InvalidValue) in try AddressGate.Range(text) }
    }
  }
}
