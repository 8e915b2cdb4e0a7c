/// A signal of the telephone network: sines that come and go.
public struct Tone: Hashable, Sendable {
  /// One sine.
  public struct Component: Hashable, Sendable {
    /// Hz.
    public let frequency: Double
    /// dBm0: 0 is a sine of amplitude ``Tone/reference``.
    public let level: Double

    /// `frequency`: Hz. `level`: dBm0.
    public init(frequency: Double, level: Double) {
      self.frequency = frequency
      self.level = level
    }
  }

  /// Sines of one duration; none of them is silence. At most two sound.
  public struct Segment: Hashable, Sendable {
    /// Those behind the second are not heard.
    public let components: [Component]
    /// A segment of 0 or less is passed over.
    public let milliseconds: Int

    /// No components: a pause.
    public init(_ components: [Component], milliseconds: Int) {
      self.components = components
      self.milliseconds = milliseconds
    }
  }

  /// Amplitude of a sine of 0 dBm0: 3.17 dB below the loudest code of µ-law.
  public static let reference = 22_302.0

  /// Played in this order.
  public let segments: [Segment]
  /// Whether it begins anew after its last segment, or falls silent.
  public let repeats: Bool

  /// `repeats`: begin anew after the last segment; else silence follows.
  public init(_ segments: [Segment], repeats: Bool) {
    self.segments = segments
    self.repeats = repeats
  }

  /// Whose signals.
  public enum Plan: String, Hashable, Sendable, CaseIterable {
    /// Most of Europe (ETSI TR 101 041, ITU-T E.180 with 425 Hz).
    case europe
    /// North America (Telcordia GR-506).
    case northAmerica
  }

  /// The far end rings.
  public static func ringback(_ plan: Plan) -> Tone {
    switch plan {
    case .europe: cadence([425], level: -13, on: 1_000, off: 4_000)
    case .northAmerica: cadence([440, 480], level: -19, on: 2_000, off: 4_000)
    }
  }

  /// The call waits: two short, quiet tones every eight seconds say that it is not forgotten.
  public static let waiting = Tone(
    [
      Segment([Component(frequency: 425, level: -22)], milliseconds: 200), Segment([], milliseconds: 200),
      Segment([Component(frequency: 425, level: -22)], milliseconds: 200), Segment([], milliseconds: 7_400),
    ], repeats: true)

  /// The far end is busy.
  public static func busy(_ plan: Plan) -> Tone {
    switch plan {
    case .europe: cadence([425], level: -13, on: 500, off: 500)
    case .northAmerica: cadence([480, 620], level: -24, on: 500, off: 500)
    }
  }

  /// No way through the network.
  public static func congestion(_ plan: Plan) -> Tone {
    switch plan {
    case .europe: cadence([425], level: -13, on: 250, off: 250)
    case .northAmerica: cadence([480, 620], level: -24, on: 250, off: 250)
    }
  }

  /// The test tone: 1004 Hz at 0 dBm0, without end.
  public static let milliwatt = Tone(
    [Segment([Component(frequency: 1_004, level: 0)], milliseconds: 1_000)], repeats: true)

  /// A key (ITU-T Q.23), the higher tone 2 dB louder, then a pause. `nil` unless `code` is 0 to 15: the digits, `*`, `#`,
  /// A to D (RFC 4733 section 3.2).
  public static func key(_ code: Int, milliseconds: Int = 100, pause: Int = 100) -> Tone? {
    let places = [13, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 14, 3, 7, 11, 15]
    guard places.indices.contains(code), milliseconds > 0, pause >= 0 else { return nil }
    let low = Component(frequency: [697, 770, 852, 941][places[code] / 4], level: -9)
    let high = Component(frequency: [1_209, 1_336, 1_477, 1_633][places[code] % 4], level: -7)
    return Tone(
      [Segment([low, high], milliseconds: milliseconds), Segment([], milliseconds: pause)], repeats: false)
  }

  private static func cadence(_ frequencies: [Double], level: Double, on: Int, off: Int) -> Tone {
    Tone(
      [
        Segment(frequencies.map { Component(frequency: $0, level: level) }, milliseconds: on),
        Segment([], milliseconds: off),
      ], repeats: true)
  }
}
