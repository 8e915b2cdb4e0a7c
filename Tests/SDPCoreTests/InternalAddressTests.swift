import CallModel
import SDPCore
import Testing

/// A peer that an app has chosen cannot lead the gateway's sound into its own network.
@Suite struct InternalAddressTests {
  private static let section = ["m=audio 7078 RTP/AVP 0", "a=rtpmap:0 PCMU/8000"]

  private static func answer(
    _ connection: String, _ lines: [String] = section, reachesInternalHosts: Bool
  ) throws -> Result<MediaPlan, NegotiationRefusal> {
    var policy = MediaPolicy.trunk(.none)
    policy.reachesInternalHosts = reachesInternalHosts
    var end = SDPFixtures.end(policy)
    let offer = try AnswerTests.offer(lines, connection: connection)
    do throws(NegotiationRefusal) {
      return .success(try end.answer(offer, from: SDPFixtures.local).plan)
    } catch {
      return .failure(error)
    }
  }

  @Test(arguments: ["c=IN IP4 10.0.0.1", "c=IN IP4 127.0.0.1", "c=IN IP6 ::1", "c=IN IP6 ::ffff:192.168.0.1"])
  func anInternalAddressIsRefused(_ connection: String) throws {
    #expect(try InternalAddressTests.answer(connection, reachesInternalHosts: false) == .failure(.address))
    guard case .success = try InternalAddressTests.answer(connection, reachesInternalHosts: true) else {
      Issue.record("a trunk may have such an address")
      return
    }
    #expect(NegotiationRefusal.address.sipStatus == 488)
    #expect(NegotiationRefusal.address.warning?.code == 302)
  }

  @Test func reportsGoNowhereInsideEither() throws {
    let lines = InternalAddressTests.section + ["a=rtcp:7079 IN IP4 169.254.169.254"]
    #expect(
      try InternalAddressTests.answer("c=IN IP4 8.8.8.8", lines, reachesInternalHosts: false) == .failure(.address))
  }

  @Test(arguments: ["c=IN IP4 8.8.8.8", "c=IN IP4 0.0.0.0"]) func othersAreTaken(_ connection: String) throws {
    guard case .success = try InternalAddressTests.answer(connection, reachesInternalHosts: false) else {
      Issue.record("an address outside, or the hold of old phones")
      return
    }
  }
}
