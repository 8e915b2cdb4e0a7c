/// What is known of one event, from those of its packets that came.
struct TelephoneEventProgress {
  /// Longest gap in sequence numbers over which a timestamp that moves is still seen to belong to the same event.
  static let longestGap: Int16 = 8
  /// Ticks after which an event goes on as a new segment, with a new timestamp (RFC 4733 section 2.5.1.3).
  static let segment = 0xFFFF

  let code: UInt8
  /// Timestamp of the segment that runs.
  private(set) var start: UInt32
  /// Ticks of the segments before it.
  private(set) var passed = 0
  /// Ticks of the segment that runs, as far as reported.
  private(set) var duration: UInt16
  /// Newest sequence number.
  private(set) var sequence: UInt16
  private(set) var isEnded: Bool

  init(_ payload: TelephoneEventPayload, sequence: UInt16, timestamp: UInt32) {
    code = payload.code
    start = timestamp
    duration = payload.duration
    self.sequence = sequence
    isEnded = payload.isEnd
  }

  /// Ticks in all.
  var ticks: Int { passed + Int(duration) }

  /// Whether an event at `timestamp` began before this one.
  func isLater(than timestamp: UInt32) -> Bool { Int32(bitPattern: timestamp &- start) < 0 }

  /// Accepts a packet, if it belongs to this event.
  mutating func accept(_ payload: TelephoneEventPayload, marker: Bool, sequence: UInt16, timestamp: UInt32) -> Bool {
    guard payload.code == code else { return false }
    let step = Int(Int32(bitPattern: timestamp &- start))
    let ahead = Int16(bitPattern: sequence &- self.sequence)
    if step == 0 {
      // A sender that gives each key the same timestamp still marks the beginning of the next.
      if isEnded, marker, !payload.isEnd, ahead > 0 { return false }
      update(payload, ahead: ahead)
    } else if step == TelephoneEventProgress.segment, !isEnded {
      passed += TelephoneEventProgress.segment
      begin(payload, timestamp: timestamp)
    } else if step < 0, -step <= passed {
      return true  // late, from a segment that is over
    } else if step > 0, !marker, moves(payload, step: step, ahead: ahead) {
      begin(payload, timestamp: timestamp)
    } else {
      return false
    }
    if ahead > 0 { self.sequence = sequence }
    return true
  }

  private mutating func begin(_ payload: TelephoneEventPayload, timestamp: UInt32) {
    start = timestamp
    duration = payload.duration
    isEnded = isEnded || payload.isEnd
  }

  private mutating func update(_ payload: TelephoneEventPayload, ahead: Int16) {
    if ahead > 0, !isEnded, Int(duration) - Int(payload.duration) > 0x8000 {
      // Some senders let the counter overflow instead of beginning a segment.
      passed += 0x10000
      duration = payload.duration
    } else if ahead >= 0 || payload.isEnd {
      duration = max(duration, payload.duration)
    }
    isEnded = isEnded || payload.isEnd
  }

  /// Some senders let the timestamp run during an event. A new key cannot look like that: it would need as long a
  /// duration as the one before and the time since, within a few packets; or end right after an end.
  private func moves(_ payload: TelephoneEventPayload, step: Int, ahead: Int16) -> Bool {
    if isEnded { return payload.isEnd && ahead == 1 && payload.duration == duration }
    return ahead > 0 && ahead <= TelephoneEventProgress.longestGap && Int(payload.duration) - Int(duration) == step
  }
}
