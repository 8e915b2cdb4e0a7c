/// The most a session description may hold. More is refused before anything is made of it.
public struct SessionDescriptionLimits: Hashable, Sendable {
  /// Bytes of the whole description.
  public var bytes: Int
  /// Lines, empty ones included.
  public var lines: Int
  /// Bytes of one line without its line end.
  public var lineBytes: Int
  /// `m=` lines.
  public var mediaSections: Int
  /// Formats of one `m=` line.
  public var formats: Int
  /// `a=` lines of the session, and of each media section.
  public var attributes: Int

  /// Nothing is checked; ``standard`` has the limits in use.
  public init(bytes: Int, lines: Int, lineBytes: Int, mediaSections: Int, formats: Int, attributes: Int) {
    self.bytes = bytes
    self.lines = lines
    self.lineBytes = lineBytes
    self.mediaSections = mediaSections
    self.formats = formats
    self.attributes = attributes
  }

  /// Four times what the largest browser offer seen needs.
  public static let standard = SessionDescriptionLimits(
    bytes: 16_384, lines: 512, lineBytes: 2_048, mediaSections: 16, formats: 64, attributes: 256)
}
