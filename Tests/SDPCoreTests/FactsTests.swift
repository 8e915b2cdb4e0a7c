import SDPCore
import TestVectors
import Testing

/// Descriptions of browsers, phones and stacks, each with the facts a reader must see.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct FactsTests {
  /// A media line without port and protocol: nothing could be answered in its place.
  static let refusedOnPurpose: Set<String> = ["sip/sofia-sip-test_soa-022.sdp"]

  /// Facts that are read otherwise on purpose, as file and column → ours.
  static let readOtherwise: [String: String] = [
    // The table counts candidate lines; one has letters for its priority and is no candidate.
    "sip/siphon-rtp-sdp-028.sdp candidates": "2"
  ]

  @Test func factsOfEveryFile() throws {
    let rows = try TestVectors.table("sdp/facts.tsv")
    var counts: [String: Int] = [:]
    var wrong: [String] = []
    for row in rows {
      let file = row["file"] ?? ""
      let verdict = row["verdict"] ?? ""
      let bytes = try SDPFixtures.bytes(file)
      let result = Result { () throws(InvalidSessionDescription) in try SessionDescription(parsing: bytes) }
      switch (verdict.prefix(6), result) {
      case ("accept", .success(let description)), ("see sd", .success(let description)):
        counts["equal", default: 0] += 1
        for (name, value) in FactsTests.facts(description) {
          let expected = FactsTests.readOtherwise["\(file) \(name)"] ?? row[name] ?? ""
          if value != expected { wrong.append("\(file): \(name) is \(value), expected \(expected)") }
        }
        let again = try? SessionDescription(parsing: description.text)
        if again != description { wrong.append("\(file): does not read back equal") }
      case ("accept", .failure(let error)), ("see sd", .failure(let error)):
        counts["refused on purpose", default: 0] += 1
        if !FactsTests.refusedOnPurpose.contains(file) { wrong.append("\(file): \(error)") }
      case ("reject", .success): wrong.append("\(file): accepted")
      case ("reject", .failure): counts["refused", default: 0] += 1
      case ("no-cra", let result):
        if case .success(let description) = result { _ = description.sections }
        counts["survived", default: 0] += 1
      default: wrong.append("\(file): verdict \(verdict) is unknown")
      }
    }
    print("facts.tsv:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(counts.values.reduce(0, +) == rows.count)
    #expect(rows.count >= 400)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }

  /// Column name → value, as the table writes it.
  static func facts(_ description: SessionDescription) -> [(String, String)] {
    let sections = description.sections
    var facts = [
      ("m_lines", "\(sections.count)"), ("media_types", sections.map(\.kind).joined(separator: ",")),
    ]
    guard let audio = sections.first(where: \.isAudio) else { return facts }
    func flag(_ value: Bool) -> String { value ? "yes" : "no" }
    let usable = audio.formats.first { [.opus, .pcmu, .pcma].contains(written($0)) }
    facts += [
      ("audio_port", "\(audio.port)" + (audio.portCount.map { "/\($0)" } ?? "")),
      ("proto", description.media[audio.index].profile),
      ("codecs_in_order", audio.formats.map(text).joined(separator: " ")),
      ("first_usable_codec", usable.map(text) ?? "none"),
      ("dtmf_pt", audio.formats.filter(\.isTelephoneEvent).map(\.token).joined(separator: ",")),
      ("direction", audio.direction.rawValue),
      ("connection", audio.connection.map { "\($0.addressType) \($0.address)" } ?? ""),
      ("fingerprint", audio.fingerprints.first?.hash.rawValue ?? ""), ("setup", audio.setup?.rawValue ?? ""),
      ("ice", flag(audio.iceUserFragment != nil)), ("candidates", "\(audio.candidates.count)"),
      ("ice_lite", flag(audio.isICELite)),
      ("crypto_suites", audio.crypto.map { $0.suiteName ?? "?" }.joined(separator: ",")),
      ("rtcp_mux", flag(audio.multiplexesRTCP)), ("ptime", audio.packetTime.map(milliseconds) ?? ""),
      ("bundle", flag(!description.bundleGroups.isEmpty)),
    ]
    return facts
  }

  /// The table counts formats above 127 as usable; they cannot be sent, which `AnswerTests` holds.
  static func written(_ format: RTPFormat) -> AudioCodec? { format.encoding.flatMap(AudioCodec.init) }

  static func text(_ format: RTPFormat) -> String { "\(format.token)=\(format.encoding?.description ?? "?")" }

  static func milliseconds(_ time: Int) -> String {
    time.isMultiple(of: 1_000) ? "\(time / 1_000)" : "\(Double(time) / 1_000)"
  }
}
