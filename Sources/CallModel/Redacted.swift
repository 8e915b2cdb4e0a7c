/// A value that must not be printed: a secret, a key, a full number. Every textual form hides it.
public struct Redacted<Value> {
  /// The hidden value. The name marks each place that takes it out.
  public let exposed: Value

  /// From here on only ``exposed`` shows the value.
  public init(_ value: Value) { exposed = value }
}

extension Redacted: Sendable where Value: Sendable {}
extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always the same text, so that not even the length shows.
  public var description: String { "<redacted>" }
  /// `<redacted>` as well.
  public var debugDescription: String { description }
  /// Without children: `dump` and the debugger's reflection see nothing.
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
