/// Where one header field stands in ``ScannedMessage/bytes``.
public struct HeaderField: Hashable, Sendable {
  public let kind: HeaderKind
  public let name: Range<Int>
  /// Without the white space around it; folds are spaces.
  public let value: Range<Int>
}
