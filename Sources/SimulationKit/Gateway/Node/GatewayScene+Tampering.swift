import AppProtocol
import CallModel

// MARK: - Planted bugs in what apps are told of calls for users

extension GatewayScene {
  /// What becomes of a frame for an app: itself, unless a bug is planted.
  func tampered(_ text: [UInt8], _ link: SimulatedLink) -> [[UInt8]] {
    guard let canary, canary.isOfUsers, case .event(let event, let sequence)? = try? AppMessageCoder.decodeServer(text)
    else { return [text] }
    let app = apps[link.app]
    func frame(_ event: AppEvent, _ sequence: UInt64? = sequence) -> [UInt8] {
      AppMessageCoder.encode(.event(event, sequence: sequence))
    }
    switch event {
    case .incoming(let call, var invitation):
      lastInvitations[call] = invitation
      if plants(.forgottenDevice) { return [] }
      // Without a sequence number it is no repetition to the app.
      if plants(.ringsTwice) { return [text, frame(event, nil)] }
      if plants(.headersLost) {
        invitation.headers = CustomHeaders()
        return [frame(.incoming(call, invitation))]
      }
      if plants(.wrongCaller) {
        invitation.from.value = "mallory"
        return [frame(.incoming(call, invitation))]
      }
      if plants(.strangerRings),
        let stranger = node?.links.values.filter({ $0.isOpen && apps[$0.app].user != app.user }).min(by: {
          $0.nodeID.number < $1.nodeID.number
        })
      {
        send(.text(frame(event, nil)), stranger, toNode: false)
      }
    case .ended(let call, var summary):
      guard let ring = app.rings[call], !ring.hasJoined else { return [text] }
      if plants(.ringsOn) { return [] }
      if let invitation = lastInvitations[call], plants(.lateRing) {
        return [text, frame(.incoming(call, invitation), nil)]
      }
      if summary.cause == .otherDeviceAnswered, plants(.wrongEnd) {
        summary.cause = .canceled
        summary.isMissed = true
        return [frame(.ended(call, summary))]
      }
      if summary.isMissed, plants(.missedLost) {
        summary.isMissed = false
        return [frame(.ended(call, summary))]
      }
      if summary.cause == .otherDeviceAnswered, summary.device != nil, plants(.wrongDevice) {
        summary.device = "another"
        return [frame(.ended(call, summary))]
      }
    case .refused(let number, let failure) where failure.code == .tooLate && app.words[number]?.isAccept == true:
      if plants(.twoAnswer) { return [frame(.done(number))] }
    default: break
    }
    return [text]
  }
}
