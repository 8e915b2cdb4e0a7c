public import CallModel

/// Hands events from one leg to another whose events have another clock (8000 and 48000 ticks a second): packet by
/// packet, with durations and segments as the other clock needs them.
public struct TelephoneEventClock {
  let from: Int
  private let to: Int
  private var event: TelephoneEventProgress?
  private var lastArrival = MonotonicInstant.zero
  /// Timestamp of the outgoing segment that runs, and ticks of those before it.
  private var timestamp: UInt32 = 0
  private var passed = 0

  /// - Parameters: ticks a second of what comes in and what goes out.
  public init(from: Int, to: Int) {
    self.from = max(from, 1)
    self.to = max(to, 1)
  }

  /// - Parameter start: where the outgoing stream stood when the event began; read with the first packet of an event.
  /// - Returns: what to send for this packet; `nil` for one of an earlier event, which is too late.
  public mutating func rewrite(
    _ payload: TelephoneEventPayload, marker: Bool, sequence: UInt16, timestamp: UInt32, start: UInt32,
    at now: MonotonicInstant
  ) -> TelephoneEventPacket? {
    let isStale = now.milliseconds(since: lastArrival) > TelephoneEventReceiver.restart
    lastArrival = max(lastArrival, now)
    var begins = false
    if event?.accept(payload, marker: marker, sequence: sequence, timestamp: timestamp) != true {
      guard isStale || event?.isLater(than: timestamp) != true else { return nil }
      event = TelephoneEventProgress(payload, sequence: sequence, timestamp: timestamp)
      self.timestamp = start
      passed = 0
      begins = true
    }
    guard let event else { return nil }
    let left = (event.ticks * to + from / 2) / from - passed
    var packet = TelephoneEventPacket(payload: payload, marker: begins, timestamp: self.timestamp)
    guard left <= TelephoneEventProgress.segment else {
      packet.payload.duration = UInt16(TelephoneEventProgress.segment)
      packet.payload.isEnd = false
      self.timestamp &+= UInt32(TelephoneEventProgress.segment)
      passed += TelephoneEventProgress.segment
      return packet
    }
    packet.payload.duration = UInt16(max(left, 0))
    packet.payload.isEnd = event.isEnded
    return packet
  }
}
