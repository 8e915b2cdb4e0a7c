import CallModel
import Foundation
import SDPCore
import TestVectors
import Testing

/// Every offer of others is answered or refused for a reason the table knows.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct AnswerVectorTests {
  /// What must come of an offer, from the columns of the table alone.
  enum Expected: Equatable {
    case codec(String)
    case refusal(String)
  }

  /// Keys and hashes of the wrong length, which the table's columns do not show.
  static let broken: [String: Expected] = [
    "sip/siphon-rtp-sdp-032.sdp": .refusal("keys"),
    "sip/siphon-rs-attrs-009.sdp": .refusal("fingerprint"),
  ]

  static func expected(_ row: [String: String]) -> Expected {
    func cell(_ name: String) -> String { row[name] ?? "" }
    let proto = cell("proto")
    let types = cell("media_types").split(separator: ",")
    if !types.contains("audio") || cell("audio_port") == "0" { return .refusal("media") }
    if TransportProfile(rawValue: proto) == nil { return .refusal("profile") }
    let codec = cell("first_usable_codec")
    if codec == "none" { return .refusal("codec") }
    // Seven bits name a format.
    if let number = Int(codec.prefix { $0 != "=" }), number > 127 { return .refusal("codec") }
    let isTLS = proto.hasPrefix("UDP/TLS")
    let hasKeys = !cell("crypto_suites").isEmpty && !isTLS
    if proto.contains("SAVP"), !hasKeys {
      if cell("fingerprint") != "sha-256" { return .refusal("fingerprint") }
      if cell("setup") == "passive" { return .refusal("role") }
    }
    return .codec(codec)
  }

  static func name(_ refusal: NegotiationRefusal) -> String {
    switch refusal {
    case .noAudio: "media"
    case .profile: "profile"
    case .codec: "codec"
    case .fingerprint: "fingerprint"
    case .dtlsRole: "role"
    case .keys: "keys"
    case let other: "\(other)"
    }
  }

  @Test func everyAcceptableFileIsAnsweredOrRefused() throws {
    var counts: [String: Int] = [:]
    var wrong: [String] = []
    for row in try TestVectors.table("sdp/facts.tsv") where row["verdict"]?.hasPrefix("accept") ?? false {
      let file = row["file"] ?? ""
      guard let offer = try? SessionDescription(parsing: SDPFixtures.bytes(file)) else { continue }
      let firstAudio = offer.media.firstIndex { $0.kind == "audio" } ?? 0
      var end = SDPFixtures.end(SDPFixtures.open)
      let result: Expected
      do throws(NegotiationRefusal) {
        let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
        let format = offer.sections[plan.audio.index].formats.first { $0.payloadType == plan.audio.send.payloadType }
        result = .codec(format.map(FactsTests.text) ?? "?")
        wrong += AnswerVectorTests.faults(answer, plan, to: offer).map { "\(file): \($0)" }
      } catch {
        result = .refusal(AnswerVectorTests.name(error))
        if error.sipStatus != 488 || error.warning == nil { wrong.append("\(file): \(error) is no 488 with Warning") }
      }
      switch result {
      case .codec: counts["answered", default: 0] += 1
      case .refusal(let reason): counts["refused: \(reason)", default: 0] += 1
      }
      let expected = AnswerVectorTests.broken[file] ?? AnswerVectorTests.expected(row)
      if end.plan.map({ $0.audio.index }) ?? firstAudio != firstAudio {
        // The table knows the first audio stream only; here it was unusable and a later one was not.
        counts["answered with a later stream", default: 0] += 1
        guard case .refusal = expected else {
          wrong.append("\(file): passed over \(expected)")
          continue
        }
        continue
      }
      if result != expected { wrong.append("\(file): \(result), expected \(expected)") }
    }
    print("answers:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(counts.values.reduce(0, +) > 300)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }

  /// What no answer may do, whatever the offer (RFC 3264 section 6).
  static func faults(_ answer: SessionDescription, _ plan: MediaPlan, to offer: SessionDescription) -> [String] {
    var faults: [String] = []
    if (try? SessionDescription(parsing: answer.text)) != answer { faults.append("the answer does not read back") }
    guard answer.media.count == offer.media.count else { return faults + ["another number of m-lines"] }
    for (index, (ours, theirs)) in zip(answer.media, offer.media).enumerated() {
      if ours.kind != theirs.kind || ours.profile != theirs.profile { faults.append("m-line \(index) differs") }
      if (ours.port == 0) != (index != plan.audio.index) { faults.append("port of m-line \(index)") }
      if ours.formats.isEmpty { faults.append("no format in m-line \(index)") }
    }
    let section = answer.sections[plan.audio.index]
    let offered = offer.sections[plan.audio.index]
    let numbers = Set(offered.formats.compactMap(\.payloadType))
    let negotiated = Set(section.formats.compactMap(\.payloadType))
    if !negotiated.isSubset(of: numbers) { faults.append("a payload type that was not offered") }
    if !Set(plan.audio.receivedPayloadTypes).isSubset(of: negotiated) {
      faults.append("the plan holds more than the answer")
    }
    if section.direction.receives && !offered.direction.sends || section.direction.sends && !offered.direction.receives
    {
      faults.append("direction \(section.direction) to \(offered.direction)")
    }
    if section.direction != plan.audio.direction { faults.append("the plan's direction is not the answer's") }
    if let events = plan.audio.events, events.clockRate != plan.audio.send.codec.clockRate,
      offered.formats.contains(where: {
        $0.isTelephoneEvent && $0.encoding?.clockRate == plan.audio.send.codec.clockRate
      })
    {
      faults.append("events do not follow the clock of the codec")
    }
    let secure = offered.profile?.isSecure ?? true
    let keys = section.crypto.count
    let fingerprints = section.fingerprints.count
    switch plan.protection {
    case .none: if secure || keys + fingerprints > 0 { faults.append("secure offer answered in the clear") }
    case .sdes: if keys != 1 || fingerprints != 0 { faults.append("not exactly one protection") }
    case .dtls:
      if keys != 0 || fingerprints != 1 || section.setup != .passive { faults.append("not exactly one protection") }
    }
    return faults
  }

  struct Body: Decodable {
    let `in`: String
  }

  @Test func everyBodyOfTheRelayTests() throws {
    let text = try TestVectors.text("sdp/rtpengine-offers.jsonl")
    let policies = [
      SDPFixtures.open, .app, .trunk(.none), .trunk([.none, .sdes]), .trunk(.sdes),
    ]
    var counts: [String: Int] = [:]
    var wrong: [String] = []
    for (number, line) in text.split(separator: "\n").enumerated() {
      let body = try JSONDecoder().decode(Body.self, from: Data(line.utf8)).in
      do throws(InvalidSessionDescription) {
        let offer = try SessionDescription(parsing: body)
        counts["read", default: 0] += 1
        if (try? SessionDescription(parsing: offer.text)) != offer { wrong.append("\(number): does not read back") }
        for (index, policy) in policies.enumerated() {
          var end = SDPFixtures.end(policy)
          guard let (answer, plan) = try? end.answer(offer, from: SDPFixtures.local) else {
            counts["refused by policy \(index)", default: 0] += 1
            continue
          }
          wrong += AnswerVectorTests.faults(answer, plan, to: offer).map { "\(number): \($0)" }
          counts["answered by policy \(index)", default: 0] += 1
        }
      } catch {
        counts["not read", default: 0] += 1
        print("body \(number): \(error)")
      }
    }
    print("bodies:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(counts["read", default: 0] >= 780)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }
}
