import CallModel
import SDPCore

/// The port of a leg that stands for whoever is at the other end of another call: two calls of an app, or of one phone behind
/// a trunk, that were joined. Each call stays what it is, with its bill, its record and its end; sound goes between their
/// bridges over ports of this host.
struct LinkLeg {
  /// The other call.
  let other: CallID
  /// `nil` until they are there.
  var media: LocalMedia?
  var negotiation: OfferAnswer

  var plan: MediaPlan? { negotiation.plan }
}

extension LinkLeg {
  /// Opus where both ends speak it, so that it passes as it is; else what the telephone network speaks.
  static func codecs(_ call: CallMachine, _ leg: LegID, _ other: CallMachine, _ place: LegID) -> [AudioCodec] {
    func codec(_ call: CallMachine, _ leg: LegID) -> AudioCodec? {
      call[leg == .near ? .far : .near].plan?.audio.send.codec
    }
    let ends = [codec(call, leg), codec(other, place)]
    if ends == [.opus, .opus] { return [.opus] }
    return ends.contains(.pcmu) ? [.pcmu, .pcma] : [.pcma, .pcmu]
  }
}
