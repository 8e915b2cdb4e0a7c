import CallModel
import MediaCore
import SDPCore
import SecureTransport

/// What both legs of a joined call agreed on, by offer and answer as in a real one.
struct JoinedDescriptions {
  let app: MediaPlan
  let trunk: MediaPlan
  /// Seen from the carrier.
  let trunkKeys: (suite: CryptoSuite, send: SRTPMasterKey, receive: SRTPMasterKey)?

  init(
    _ scene: JoinedCall.Scene, trunk phone: JoinedPhone,
    certificates: (gateway: DTLSCertificate, app: DTLSCertificate), credentials: ICECredentials
  ) throws {
    let keyMaterial = (0..<LocalMedia.keyMaterialLength).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
    let local = LocalMedia(
      host: JoinedCall.gateway.host, port: Int(JoinedCall.gateway.port), keyMaterial: keyMaterial,
      fingerprint: certificates.gateway.fingerprint, iceCredentials: credentials)
    var appEnd = OfferAnswer(sessionID: 1, host: JoinedCall.gateway.host, policy: .app)
    app = try appEnd.answer(
      JoinedDescriptions.offer(
        "m=audio 9 UDP/TLS/RTP/SAVPF 111 110", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 useinbandfec=1",
        "a=rtpmap:110 telephone-event/48000", "a=fmtp:110 0-15", "a=rtcp-mux", "a=setup:active",
        "a=fingerprint:\(certificates.app.fingerprint)", "a=ice-ufrag:peer", "a=ice-pwd:peerPasswordpeerPassword",
        "a=mid:0"), from: local
    ).plan

    let isWide = scene.trunkCodec == .opus
    let profile = scene.isTrunkSecured ? "RTP/SAVP" : "RTP/AVP"
    let key = (0..<30).map { UInt8($0 &* 5 &+ 3) }
    var lines = [
      "m=audio \(JoinedCall.trunkAddress.port) \(profile) \(phone.payloadType) \(phone.eventType)",
      "a=rtpmap:\(phone.payloadType) \(isWide ? "opus/48000/2" : "\(scene.trunkCodec.rawValue)/8000")",
      "a=rtpmap:\(phone.eventType) telephone-event/\(phone.eventClock)", "a=fmtp:\(phone.eventType) 0-15",
    ]
    if scene.isTrunkSecured {
      lines.append("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:\(Base64.encode(key))")
    }
    var trunkEnd = OfferAnswer(
      sessionID: 2, host: JoinedCall.gateway.host,
      policy: MediaPolicy(codecs: AudioCodec.allCases, protection: scene.isTrunkSecured ? .sdes : .none))
    trunk = try trunkEnd.answer(JoinedDescriptions.offer(lines), from: local).plan
    if case .sdes(let agreed) = trunk.protection {
      trunkKeys = (agreed.suite, agreed.receive, agreed.send)
    } else {
      trunkKeys = nil
    }
  }

  private static func offer(_ lines: String...) throws -> SessionDescription { try offer(lines) }

  private static func offer(_ lines: [String]) throws -> SessionDescription {
    let host = JoinedCall.trunkAddress.host
    let text =
      ["v=0", "o=- 7 1 IN IP4 \(host)", "s=-", "c=IN IP4 \(host)", "t=0 0"] + lines
    return try SessionDescription(parsing: Array(text.map { $0 + "\r\n" }.joined().utf8))
  }
}
