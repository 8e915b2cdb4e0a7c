/// Where one header field stands in ``ScannedMessage/bytes``.
public struct HeaderField: Hashable, Sendable {
  /// Found by the name in any case, compact forms included.
  public let kind: HeaderKind
  /// As written, compact forms included; without the colon.
  public let name: Range<Int>
  /// Without the white space around it; folds are spaces.
  public let value: Range<Int>
}
