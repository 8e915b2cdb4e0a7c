import AppProtocol
import CallModel
import SDPCore

/// The app's side of a call: its session, and what was agreed on with it.
struct AppLeg {
  let session: SessionID
  /// The request that asked for the call, until it has its reply.
  let request: RequestNumber
  let identity: AppIdentity
  /// As it came with the request.
  let offer: SessionDescription
  var negotiation: OfferAnswer
  var media: LocalMedia?
  var isAbsent = false
  var isMuted = false

  /// Answers an offer of the app; an ICE restart gets new credentials of ours.
  mutating func answer(
    _ offer: SessionDescription, _ context: EngineContext
  ) throws(NegotiationRefusal) -> (text: String, plan: MediaPlan, restart: ICECredentials?) {
    guard var media else { throw .localMedia("address") }
    var restart: ICECredentials?
    if negotiation.restartsICE(offer) {
      let fresh = ICECredentials(draw: context.draw)
      media.iceCredentials = fresh
      restart = fresh
    }
    let (answer, plan) = try negotiation.answer(offer, from: media)
    self.media = media
    return (answer.text, plan, restart)
  }
}
