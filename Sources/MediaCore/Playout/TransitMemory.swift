import CallModel

/// How long the packets of a stream were on their way lately.
///
/// The sender's clock begins anywhere, so all transits are the same unknown constant too long or too short: what counts is
/// the difference of two. Remembered are the fastest and the slowest of the last two seconds of sound, or of the last hundred
/// packets where they are long, however long ago they came: a sender that pauses is met again as it was known. Fixed in
/// size; nothing of it allocates.
struct TransitMemory {
  /// Milliseconds of sound after which the oldest quarter of what is remembered is forgotten.
  static let pieceMilliseconds = 500
  /// Milliseconds that a packet counts as at most.
  static let packetMilliseconds = 20
  /// Microseconds: transits further apart are another beginning of the sender's clock.
  static let maximumStep: Int64 = 5_000_000

  /// Microseconds that a packet counts as slower than the fastest at most: nobody waits longer.
  private let maximumSpread: Int64
  private var fastest = SIMD4<Int64>(repeating: .max)
  private var slowestOfPiece = SIMD4<Int64>(repeating: .min)
  private var piece = 0
  private var milliseconds = 0
  /// Pieces that are full, up to all.
  private var known = 0

  private var hasBegun = false
  private var clockRate = 0
  private var timestamp: UInt32 = 0
  /// Microseconds on the sender's clock of ``timestamp``. It wraps around, as whatever a stranger counts may.
  private var senderTime: Int64 = 0
  private var latest: Int64 = 0

  /// - Parameter maximumSpread: Microseconds that a packet counts as slower than the fastest at most.
  init(maximumSpread: Int64) { self.maximumSpread = maximumSpread }

  mutating func forget() { self = TransitMemory(maximumSpread: maximumSpread) }

  /// Microseconds that a packet was on its way, but for the unknown constant. `clockRate`: ticks a second.
  mutating func transit(of timestamp: UInt32, clockRate: Int, at now: MonotonicInstant) -> Int64 {
    if clockRate != self.clockRate { forget() }
    let ticks = hasBegun ? Int32(bitPattern: timestamp &- self.timestamp) : 0
    let time = senderTime &+ Int64(ticks) * 1_000_000 / Int64(max(clockRate, 1))
    if ticks > 0 || !hasBegun {
      (hasBegun, self.clockRate, self.timestamp, senderTime) = (true, clockRate, timestamp, time)
    }
    return now.microseconds &- time
  }

  /// A packet of so many milliseconds came.
  mutating func add(_ transit: Int64, milliseconds: Int) {
    if known > 0 || self.milliseconds > 0, (transit &- latest).magnitude > UInt64(TransitMemory.maximumStep) {
      (fastest, slowestOfPiece) = (SIMD4(repeating: .max), SIMD4(repeating: .min))
      (known, self.milliseconds) = (0, 0)
    }
    latest = transit
    fastest[piece] = min(fastest[piece], transit)
    slowestOfPiece[piece] = max(slowestOfPiece[piece], min(transit, fastest.min() &+ maximumSpread))
    self.milliseconds += min(max(milliseconds, 1), TransitMemory.packetMilliseconds)
    guard self.milliseconds >= TransitMemory.pieceMilliseconds else { return }
    known = min(known + 1, fastest.scalarCount)
    self.milliseconds = 0
    piece = (piece + 1) % fastest.scalarCount
    fastest[piece] = .max
    slowestOfPiece[piece] = .min
  }

  /// The greatest transit that is remembered; `nil`: none is.
  var slowest: Int64? {
    let slowest = slowestOfPiece.max()
    return slowest == .min ? nil : slowest
  }

  /// Half a second of sound has come: what is remembered says something of what is to come.
  var isKnown: Bool { known > 0 }
  /// A whole second has come.
  var isSettled: Bool { known > 1 }
}
