public import CallModel
public import SDPCore
public import SecureTransport

/// Makes of event packets (RFC 4733), whatever the network did to them, each key once and in order.
///
/// A key is told at its end: with the end packet, with the first packet of the next key, or when nothing more came of it
/// for ``timeout``. It may be as short as the sender likes.
public struct TelephoneEventReceiver {
  /// Milliseconds without a packet of an event after which it is over: its ends were lost.
  public static let timeout: Int64 = 300
  /// Milliseconds without any packet after which an earlier timestamp means that the sender began anew.
  public static let restart: Int64 = 2_000

  let clockRate: Int
  let codes: TelephoneEvents
  /// The event that is not told yet.
  private var current: TelephoneEventProgress?
  /// The last event told: what else comes of it is a repetition.
  private var told: TelephoneEventProgress?
  private var lastArrival = MonotonicInstant.zero
  /// Packets of events that came after a later one had been told; they are lost.
  public private(set) var late: UInt64 = 0

  /// - Parameters:
  ///   - clockRate: ticks a second.
  ///   - codes: the events to be told; others are passed over.
  public init(clockRate: Int, codes: TelephoneEvents = .keys) {
    self.clockRate = max(clockRate, 1)
    self.codes = codes
  }

  /// When ``advance(to:digits:)`` is due.
  public var nextDeadline: MonotonicInstant? {
    current == nil ? nil : lastArrival.advanced(byMilliseconds: TelephoneEventReceiver.timeout)
  }

  /// A key is being pressed.
  public var isPressed: Bool { current != nil }

  /// Takes the payload of a packet; one that is too short is passed over.
  public mutating func receive(
    _ packet: PacketBuffer, offset: Int, count: Int, marker: Bool, sequence: UInt16, timestamp: UInt32,
    at now: MonotonicInstant, digits: inout [DigitPressed]
  ) {
    var offset = offset
    var left = count
    var timestamp = timestamp
    for report in 0..<TelephoneEventPayload.maximumReports {
      guard let payload = TelephoneEventPayload(packet, offset: offset, count: left) else { return }
      // Bytes after the first report are further ones only where that is over and they say something.
      guard report == 0 || payload.duration > 0 else { return }
      receive(
        payload, marker: marker && report == 0, sequence: sequence, timestamp: timestamp, at: now, digits: &digits)
      guard payload.isEnd else { return }
      offset += TelephoneEventPayload.byteCount
      left -= TelephoneEventPayload.byteCount
      timestamp &+= UInt32(payload.duration)
    }
  }

  /// Takes one report.
  public mutating func receive(
    _ payload: TelephoneEventPayload, marker: Bool, sequence: UInt16, timestamp: UInt32, at now: MonotonicInstant,
    digits: inout [DigitPressed]
  ) {
    guard codes.contains(Int(payload.code)) else { return }
    let isStale = now.milliseconds(since: lastArrival) > TelephoneEventReceiver.restart
    lastArrival = max(lastArrival, now)
    if current?.accept(payload, marker: marker, sequence: sequence, timestamp: timestamp) == true {
      if current?.isEnded == true { tell(&digits) }
      return
    }
    if told?.accept(payload, marker: marker, sequence: sequence, timestamp: timestamp) == true { return }
    let event = TelephoneEventProgress(payload, sequence: sequence, timestamp: timestamp)
    if !isStale, let told, told.isLater(than: timestamp) {
      late += 1
      return
    }
    if !isStale, let current, current.isLater(than: timestamp) {
      // All of it was overtaken by the next key, which is not over yet.
      tell(event, &digits)
      return
    }
    tell(&digits)
    current = event
    if event.isEnded { tell(&digits) }
  }

  /// Time went by.
  public mutating func advance(to now: MonotonicInstant, digits: inout [DigitPressed]) {
    guard let deadline = nextDeadline, deadline <= now else { return }
    tell(&digits)
  }

  /// The stream is over, or another source begins: tells a key that still is pressed, and forgets the rest.
  public mutating func finish(digits: inout [DigitPressed]) {
    tell(&digits)
    told = nil
  }

  private mutating func tell(_ digits: inout [DigitPressed]) {
    guard let event = current else { return }
    current = nil
    tell(event, &digits)
  }

  private mutating func tell(_ event: TelephoneEventProgress, _ digits: inout [DigitPressed]) {
    told = event
    digits.append(
      DigitPressed(
        code: Int(event.code), milliseconds: (event.ticks * 1000 + clockRate / 2) / clockRate, way: .event))
  }
}
