import CallModel
import FuzzBound
import SDPCore

/// Session descriptions as a browser or a trunk sends them: read, answered under the policies of both legs, and taken
/// as the answer to an offer of ours.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  withinTimeBound { negotiate(bytes) }
  return 0
}

private func negotiate(_ bytes: [UInt8]) {
  guard let description = try? SessionDescription(parsing: bytes) else { return }
  for policy in policies {
    var answering = OfferAnswer(sessionID: 1, host: host, policy: policy)
    _ = try? answering.answer(description, from: local)
    var offering = OfferAnswer(sessionID: 1, host: host, policy: policy)
    guard (try? offering.offer(from: local)) != nil else { continue }
    _ = try? offering.accept(description)
  }
}

private let host = SIPHost.ipv4(0x7F00_0001)
private let policies = [MediaPolicy.app, .trunk([.none, .sdes])]
private let local = LocalMedia(
  host: host, port: 4000, keyMaterial: Array(repeating: 7, count: LocalMedia.keyMaterialLength),
  fingerprint: CertificateFingerprint(hash: .sha256, bytes: Array(repeating: 9, count: 32)),
  iceCredentials: ICECredentials(userFragment: "abcd", password: "abcdefghijklmnopqrstuv"), source: 1)
