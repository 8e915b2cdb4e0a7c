/// One `b=` line (RFC 8866 section 5.8), kept and printed, never obeyed.
public struct Bandwidth: Hashable, Sendable {
  /// `AS`, `CT`, `TIAS`, …
  public var modifier: String
  /// Decimal digits in the modifier's unit.
  public var value: String

  /// Nothing is checked; digits only are expected in `value`.
  public init(modifier: String, value: String) {
    self.modifier = modifier
    self.value = value
  }
}

/// One `t=` line with its `r=` lines (RFC 8866 sections 5.9 and 5.10), kept and printed, never obeyed.
public struct SessionTime: Hashable, Sendable {
  /// Two decimal numbers: seconds since 1900, or 0.
  public var start: String
  /// As ``start``; 0 for no end.
  public var stop: String
  /// The values of the `r=` lines.
  public var repeats: [String]
  /// The value of the `z=` line (RFC 8866 section 5.11).
  public var timeZones: String?

  /// The defaults print as `t=0 0`: a session without bounds.
  public init(start: String = "0", stop: String = "0", repeats: [String] = [], timeZones: String? = nil) {
    self.start = start
    self.stop = stop
    self.repeats = repeats
    self.timeZones = timeZones
  }
}
