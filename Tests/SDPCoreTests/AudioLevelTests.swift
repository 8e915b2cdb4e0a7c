import SDPCore
import Testing

/// Client-to-mixer audio levels (RFC 6464) in answers.
@Suite struct AudioLevelTests {
  static let uri = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"

  private static let levels: MediaPolicy = {
    var policy = MediaPolicy.app
    policy.answersAudioLevels = true
    return policy
  }()

  private func answered(
    _ lines: [String], _ policy: MediaPolicy = Self.levels
  ) throws -> (lines: [String], number: Int?) {
    let video = try #require(AnswerTests.chrome.firstIndex { $0.hasPrefix("m=video") })
    let offer = try AnswerTests.offer(AnswerTests.chrome[..<video] + lines + AnswerTests.chrome[video...])
    var end = SDPFixtures.end(policy)
    let (answer, plan) = try end.answer(offer, from: SDPFixtures.local)
    let written = answer.text.split(separator: "\r\n").filter { $0.contains("extmap") }.map(String.init)
    #expect(end.plan?.audio.audioLevelExtension == plan.audio.audioLevelExtension)
    return (written, plan.audio.audioLevelExtension)
  }

  /// We receive it and never send it, so the answer says `recvonly` to whoever would send (RFC 8285 section 6).
  @Test(
    arguments: [
      (["1 \(uri)"], "1/recvonly \(uri)"), (["14 \(uri)"], "14/recvonly \(uri)"),
      (["3/sendrecv \(uri)"], "3/recvonly \(uri)"), (["3/sendonly \(uri)"], "3/recvonly \(uri)"),
      (["1 \(uri) vad=on"], "1/recvonly \(uri) vad=on"), (["1 \(uri) vad=off"], "1/recvonly \(uri) vad=off"),
      (["1 \(uri) vad=perhaps"], "1/recvonly \(uri)"),
      (["3/recvonly \(uri)"], nil), (["3/inactive \(uri)"], nil), (["3/both \(uri)"], nil),
      // Numbers that only the two-byte form has, that nothing has, or that are none.
      (["0 \(uri)"], nil), (["15 \(uri)"], nil), (["255 \(uri)"], nil), (["4096 \(uri)"], nil), (["-1 \(uri)"], nil),
      (["1"], nil), (["x \(uri)"], nil), (["99999999999999999999 \(uri)"], nil), (["/ \(uri)"], nil),
      (["1 \(uri)s"], nil), (["1 urn:ietf:params:rtp-hdrext:csrc-audio-level"], nil),
      // A number that stands for two things is none.
      (["1 urn:ietf:params:rtp-hdrext:sdes:mid", "1 \(uri)"], nil), (["1 \(uri)", "1 \(uri)"], nil),
      (["1 \(uri)", "1/inactive urn:x"], nil), (["1 urn:x", "1 urn:y", "2 \(uri)"], "2/recvonly \(uri)"),
      // Named twice, the first that can be used.
      (["15 \(uri)", "2 \(uri)", "3 \(uri)"], "2/recvonly \(uri)"),
      (["2/recvonly \(uri)", "3/sendonly \(uri)"], "3/recvonly \(uri)"),
    ] as [([String], String?)])
  func inAnAnswer(_ offered: [String], _ wanted: String?) throws {
    let others = ["a=extmap:12 urn:ietf:params:rtp-hdrext:toffset", "a=extmap-allow-mixed"]
    let (lines, number) = try answered(others + offered.map { "a=extmap:" + $0 })
    #expect(lines == (wanted.map { ["a=extmap:" + $0] } ?? []))
    #expect(number == wanted.flatMap { Int($0.prefix { $0 != "/" }) })
  }

  @Test func whereThePolicyHasItNot() throws {
    for policy in [MediaPolicy.app, .client, SDPFixtures.open] {
      #expect(try answered(["a=extmap:1 \(Self.uri)"], policy) == ([], nil))
    }
    var end = SDPFixtures.end(Self.levels)
    #expect(try !end.offer(from: SDPFixtures.local).text.contains("extmap"))
  }

  /// A later offer may have another number, or none; neither makes coders anew.
  @Test func laterOffers() throws {
    var end = SDPFixtures.end(Self.levels)
    let video = try #require(AnswerTests.chrome.firstIndex { $0.hasPrefix("m=video") })
    var former: MediaPlan?
    for number in [1, 1, 7, nil] as [Int?] {
      let line = number.map { ["a=extmap:\($0) \(Self.uri)"] } ?? []
      let offer = try AnswerTests.offer(AnswerTests.chrome[..<video] + line + AnswerTests.chrome[video...])
      let plan = try end.answer(offer, from: SDPFixtures.local).plan
      #expect(plan.audio.audioLevelExtension == number)
      if let former { #expect(plan.changes(since: former) == []) }
      former = plan
    }
  }
}
