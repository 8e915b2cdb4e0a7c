import CallModel

/// What the door knows of one session. A class, so that it is changed where it is: a copy would be one of all the messages
/// that it keeps.
final class AppSession {
  /// A message that may have to be sent again.
  struct Kept {
    let sequence: UInt64
    let isMinor: Bool
    /// The call that it tells of, where it is an invitation.
    let invitation: CallID?
    let text: [UInt8]
  }

  let id: SessionID
  let name: String
  let identity: AppIdentity
  /// `nil` while it is absent.
  var connection: ConnectionID?
  var token: [UInt8]
  /// Still good until the app shows that it has the new one: the message that told it may have been lost.
  var formerToken: [UInt8]?
  /// Messages over the limit since one was within it.
  var overLimit = 0
  var lastRequest: UInt64 = 0
  /// What the app was told of relays: by which service, and when it is told anew.
  var relays: (service: TURNService?, renewal: Instant) = (nil, .distantFuture)
  /// Requests without reply.
  var pending = 0
  var calls: Set<CallID> = []
  /// Of the last event.
  var sequence: UInt64 = 0
  /// Events up to this one may be missing from `kept` though the app needs them.
  private(set) var droppedThrough: UInt64 = 0
  private(set) var kept: [Kept] = []
  private(set) var keptBytes = 0

  init(id: SessionID, name: String, identity: AppIdentity, connection: ConnectionID, token: [UInt8]) {
    self.id = id
    self.name = name
    self.identity = identity
    self.connection = connection
    self.token = token
  }

  var isIdle: Bool { calls.isEmpty && pending == 0 }

  /// What happened to the session's calls and requests.
  func updateCalls(after event: AppEvent) {
    switch event {
    case .incoming(let call, _): calls.insert(call)
    case .placed(_, let call, _):
      pending = max(pending - 1, 0)
      calls.insert(call)
    case .done, .answered, .refused: pending = max(pending - 1, 0)
    case .ended(let call, _): calls.remove(call)
    default: break
    }
  }

  /// - Returns: `false` when there is no room and nothing that an app could do without: it could not go on.
  func bufferForResumption(_ message: Kept, _ configuration: AppDoor.Configuration) -> Bool {
    kept.append(message)
    keptBytes += message.text.count
    while kept.count > configuration.maximumBufferedEvents || keptBytes > configuration.maximumBufferedBytes {
      if connection != nil {
        // All was sent: only what the network still holds could be missed.
        remove(at: 0, isNeeded: true)
      } else if let minor = kept.firstIndex(where: \.isMinor) {
        remove(at: minor, isNeeded: false)
      } else {
        return false
      }
    }
    return true
  }

  private func remove(at index: Int, isNeeded: Bool) {
    let message = kept.remove(at: index)
    keptBytes -= message.text.count
    if isNeeded { droppedThrough = message.sequence }
  }

  /// The call is over: an invitation to it that could not be sent would only ring in vain.
  func dropInvitation(to call: CallID) {
    guard let index = kept.firstIndex(where: { $0.invitation == call }) else { return }
    remove(at: index, isNeeded: false)
  }

  /// The app has all up to this event.
  func acknowledge(_ sequence: UInt64) {
    let count = kept.prefix { $0.sequence <= sequence }.count
    guard count > 0 else { return }
    keptBytes -= kept[..<count].reduce(0) { $0 + $1.text.count }
    droppedThrough = max(droppedThrough, kept[count - 1].sequence)
    kept.removeFirst(count)
  }
}

extension AppEvent {
  /// The call that it invites to.
  var invitation: CallID? {
    if case .incoming(let call, _) = self { return call }
    return nil
  }

  /// What is of no use once it is late: never sent again after a loss.
  var isPassing: Bool {
    switch self {
    case .quality, .speakers, .members: true
    default: false
    }
  }

  /// What an app can do without once its time is over.
  var isMinor: Bool {
    switch self {
    case .progressing, .ringing, .earlyMedia, .digit, .warning, .quality, .members, .speakers: true
    case .placed, .done, .answered, .refused, .incoming, .accepted, .established, .price, .creditEnds, .held, .transfer,
      .recording, .offered, .ended:
      false
    }
  }
}
