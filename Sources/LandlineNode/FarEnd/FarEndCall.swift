import CallModel
import MediaCore
import NIOCore
import SDPCore
import SIPCore

/// One call of the far end: where its script stands, and what it holds.
final class FarEndCall {
  /// What the present step waits for.
  enum Wait: Hashable {
    case nothing
    case timer, media, acknowledgement, prompt
  }

  let handle: CallHandle
  let bridge: MediaBridge.Identifier
  /// The `x-` headers of the INVITE, which go back as they came.
  let headers: CustomHeaders
  let offer: MessageBody?
  private let steps: [FarEndScript.Step]
  /// The step that is being carried out.
  private var position = 0
  var wait = Wait.nothing
  var timer: Scheduled<Void>?
  /// Ends the call whatever its script says.
  var limit: Scheduled<Void>?
  /// The 200 is out; then its ACK is there.
  var isAnswered = false
  var isEstablished = false
  var hasBridge = false

  /// A call of the far end's own: what is to be called, and who hears of it.
  let placed: Placed?

  struct Placed {
    let order: InboundCallOrder
    let target: SIPURI
    let path: SIPPath
    let report: FarEndReport
  }

  /// Ports, bridge and descriptions; `nil` before the first step that needs sound.
  var media: Media?

  struct Media {
    var exchange: OfferAnswer
    let local: LocalMedia
    /// What goes into 183 and 200: our answer, or our offer where the INVITE had none.
    var description: MessageBody
  }

  init(_ handle: CallHandle, _ bridge: MediaBridge.Identifier, _ call: IncomingCall, _ script: FarEndScript) {
    self.handle = handle
    self.bridge = bridge
    headers = call.headers
    offer = call.offer
    steps = script.steps
    placed = nil
  }

  /// A call that is to be placed once there are ports; the script begins with the answer.
  init(placing placed: Placed, _ handle: CallHandle, _ bridge: MediaBridge.Identifier, _ script: FarEndScript) {
    self.handle = handle
    self.bridge = bridge
    self.placed = placed
    headers = CustomHeaders()
    offer = nil
    steps = script.steps
    // What ends it before its answer is a CANCEL, never a response.
    isAnswered = true
  }

  var step: FarEndScript.Step? { position < steps.count ? steps[position] : nil }
  func finishStep() {
    wait = .nothing
    position += 1
  }

  func cancelTimers() {
    timer?.cancel()
    limit?.cancel()
    timer = nil
    limit = nil
  }
}
