public import CallModel

/// Both directions between two ends, each a path of its own.
public struct ImpairedNetwork {
  /// Which way a datagram goes.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    case forth, back
  }

  /// A datagram that arrives.
  public struct Delivery: Hashable, Sendable {
    /// The way that the datagram was offered to go.
    public let direction: Direction
    /// As they arrive: with bits turned where the path damaged them.
    public let bytes: [UInt8]
  }

  /// What is offered as ``Direction/forth`` goes this way; its counts are of that direction alone.
  public private(set) var forth: ImpairedPath
  /// What is offered as ``Direction/back`` goes this way; its counts are of that direction alone.
  public private(set) var back: ImpairedPath

  /// - Parameter seed: the same seed and traffic give the same outcome; the directions draw independently.
  public init(forth: ImpairmentOptions, back: ImpairmentOptions, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.forth = ImpairedPath(forth, seed: random.next())
    self.back = ImpairedPath(back, seed: random.next())
  }

  /// What happens from now on to the datagrams of both directions; those on their way keep their fate.
  public mutating func change(forth: ImpairmentOptions, back: ImpairmentOptions) {
    self.forth.options = forth
    self.back.options = back
  }

  /// A datagram sets out. Times of offers in one direction never step back.
  public mutating func offer(_ bytes: [UInt8], _ direction: Direction, at now: MonotonicInstant) {
    switch direction {
    case .forth: forth.offer(bytes, at: now)
    case .back: back.offer(bytes, at: now)
    }
  }

  /// When ``next(at:)`` has something.
  public var nextDeadline: MonotonicInstant? {
    guard let first = forth.nextDeadline, let second = back.nextDeadline else {
      return forth.nextDeadline ?? back.nextDeadline
    }
    return min(first, second)
  }

  /// Takes the next datagram that has arrived, of both directions the earlier.
  public mutating func next(at now: MonotonicInstant) -> Delivery? {
    let isBack = back.nextDeadline.map { deadline in forth.nextDeadline.map { deadline < $0 } ?? true } ?? false
    if isBack { return back.next(at: now).map { Delivery(direction: .back, bytes: $0) } }
    return forth.next(at: now).map { Delivery(direction: .forth, bytes: $0) }
  }

  /// Datagrams on their way, both directions together.
  public var inFlight: Int { forth.inFlight + back.inFlight }
}
