public import CallModel

/// Presses keys towards a peer (RFC 4733): the packets of each, one a packet time, the end three times.
public struct TelephoneEventSender {
  /// Keys that wait at most.
  public static let maximumKeys = 64
  /// Milliseconds of a key. Shorter ones are refused by receivers of tones (ITU-T Q.24).
  public static let durations = 40...6_000
  /// Milliseconds between two keys.
  public static let pauses = 40...6_000
  /// How often the end is sent (RFC 4733 section 2.5.1.4).
  static let ends = 3

  private struct Key {
    let code: UInt8
    let milliseconds: Int
    let pause: Int
  }

  /// A key that is being pressed.
  private struct Press {
    let key: Key
    let began: MonotonicInstant
    /// Timestamp of the segment that runs, and ticks of those before it.
    var timestamp: UInt32
    var passed = 0
    var isStarted = false
    var ends = 0
  }

  private let clockRate: Int
  private let packetTime: Int
  private let volume: UInt8
  private var keys: ContiguousArray<Key> = []
  private var press: Press?
  /// No key begins before.
  private var ready = MonotonicInstant(microseconds: .min)
  /// When ``next(at:timestamp:)`` has something; `nil`: no key is left.
  public private(set) var nextDeadline: MonotonicInstant?

  /// - Parameters:
  ///   - clockRate: ticks a second.
  ///   - packetTime: milliseconds from one packet to the next; taken into 10 to 100.
  ///   - volume: level of the tone in dBm0, the sign dropped.
  public init(clockRate: Int, packetTime: Int, volume: UInt8 = 10) {
    self.clockRate = max(clockRate, 1)
    self.packetTime = min(max(packetTime, 10), 100)
    self.volume = volume
    keys.reserveCapacity(TelephoneEventSender.maximumKeys)
  }

  /// A key is being pressed: sound may rest meanwhile.
  public var isPressing: Bool { press != nil }

  /// Puts a key behind those that wait.
  /// - Parameters:
  ///   - code: 0 to 15.
  ///   - milliseconds: clamped into ``durations``.
  ///   - pause: milliseconds until the next key may begin; clamped into ``pauses``.
  /// - Returns: `false` if the code is no key or ``maximumKeys`` wait.
  public mutating func send(_ code: Int, milliseconds: Int, pause: Int, at now: MonotonicInstant) -> Bool {
    guard (0...15).contains(code), keys.count < TelephoneEventSender.maximumKeys else { return false }
    func clamped(_ value: Int, into range: ClosedRange<Int>) -> Int {
      min(max(value, range.lowerBound), range.upperBound)
    }
    keys.append(
      Key(
        code: UInt8(code), milliseconds: clamped(milliseconds, into: TelephoneEventSender.durations),
        pause: clamped(pause, into: TelephoneEventSender.pauses)))
    if nextDeadline == nil { nextDeadline = max(now, ready) }
    return true
  }

  /// The next packet, if it is due.
  /// - Parameter timestamp: where the RTP stream stands now; read when a key begins.
  public mutating func next(at now: MonotonicInstant, timestamp: UInt32) -> TelephoneEventPacket? {
    guard let due = nextDeadline, due <= now else { return nil }
    if press == nil {
      guard !keys.isEmpty else {
        nextDeadline = nil
        return nil
      }
      press = Press(key: keys.removeFirst(), began: now, timestamp: timestamp)
    }
    guard var press else { return nil }
    let packets = now.milliseconds(since: press.began) / Int64(packetTime) + 1
    let whole = press.key.milliseconds * clockRate / 1000
    let reached = press.ends > 0 ? whole : min(whole, Int(packets) * packetTime * clockRate / 1000)
    let marker = !press.isStarted
    press.isStarted = true
    defer { self.press = press.ends < TelephoneEventSender.ends ? press : nil }
    var packet = TelephoneEventPacket(
      payload: TelephoneEventPayload(code: press.key.code, isEnd: false, volume: volume, duration: 0),
      marker: marker, timestamp: press.timestamp)
    if reached - press.passed > TelephoneEventProgress.segment {
      // Closes the segment; the next packet, due at once, begins another.
      packet.payload.duration = UInt16(TelephoneEventProgress.segment)
      press.timestamp &+= UInt32(TelephoneEventProgress.segment)
      press.passed += TelephoneEventProgress.segment
      nextDeadline = now
      return packet
    }
    packet.payload.duration = UInt16(reached - press.passed)
    guard reached == whole, !marker else {
      nextDeadline = press.began.advanced(byMilliseconds: packets * Int64(packetTime))
      return packet
    }
    packet.payload.isEnd = true
    press.ends += 1
    nextDeadline = now.advanced(byMilliseconds: Int64(packetTime))
    if press.ends == TelephoneEventSender.ends { rest(after: press, at: now) }
    return packet
  }

  /// Forgets the keys that wait. The one that is being pressed is sent to its end.
  public mutating func removeWaiting() {
    keys.removeAll(keepingCapacity: true)
    if press == nil { nextDeadline = nil }
  }

  private mutating func rest(after press: Press, at now: MonotonicInstant) {
    let pause = press.began.advanced(byMilliseconds: Int64(press.key.milliseconds + press.key.pause))
    ready = max(pause, now.advanced(byMilliseconds: Int64(packetTime)))
    nextDeadline = keys.isEmpty ? nil : ready
  }
}
