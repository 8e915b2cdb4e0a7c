import CallModel
import SDPCore

/// A session description of a trace, as far as rules read it: its first audio section. Keys in it are blotted out.
struct EvidenceDescription: Hashable, Sendable {
  /// `PCMU`, `opus`; keys pressed among the sound are no codec.
  let codecs: [String]
  let hasTelephoneEvents: Bool
  /// As written.
  let address: String?
  let host: SIPHost?
  let port: Int
  /// `RTP/AVP`.
  let profile: String
  let hasCrypto: Bool
  let hasFingerprint: Bool
  let direction: MediaDirection
  /// `m=` line as it would be quoted.
  let line: String

  /// - Returns: `nil` for a text that is no description with sound.
  init?(_ text: String) {
    guard let description = try? SessionDescription(parsing: text),
      let section = description.sections.first(where: \.isAudio), description.media.indices.contains(section.index)
    else { return nil }
    let names = section.formats.compactMap { $0.encoding?.name }
    codecs = names.filter { !["telephone-event", "cn"].contains($0.lowercased()) }
    hasTelephoneEvents = names.contains { $0.lowercased() == "telephone-event" }
    address = section.connection?.address
    host = section.connection?.unicastHost
    port = section.port
    let media = description.media[section.index]
    profile = media.profile
    hasCrypto = media.attributes.contains { $0.name == "crypto" }
    hasFingerprint = !section.fingerprints.isEmpty
    direction = section.direction
    line = (["m=audio \(media.port) \(media.profile)"] + media.formats.prefix(16)).joined(separator: " ")
  }

  /// Whether the sound is offered or answered encrypted.
  var isProtected: Bool { profile.uppercased().contains("SAVP") || hasCrypto || hasFingerprint }

  /// Whether both name a codec.
  func shares(with other: EvidenceDescription) -> Bool {
    let others = Set(other.codecs.map { $0.lowercased() })
    return codecs.contains { others.contains($0.lowercased()) }
  }

  /// Addresses inside somebody's own network (RFC 1918, 3927, 6598, 4193, 4291).
  static func isPrivate(_ host: SIPHost) -> Bool {
    switch host {
    case .name: return false
    case .ipv4(let address):
      let ranges: [(prefix: UInt32, bits: UInt32)] = [
        (0x0A00_0000, 8), (0x6440_0000, 10), (0xA9FE_0000, 16), (0xAC10_0000, 12), (0xC0A8_0000, 16),
      ]
      return ranges.contains { (address ^ $0.prefix) >> (32 - $0.bits) == 0 }
    case .ipv6(let high, _):
      let first = high >> 48
      return first & 0xFE00 == 0xFC00 || first & 0xFFC0 == 0xFE80
    }
  }
}
