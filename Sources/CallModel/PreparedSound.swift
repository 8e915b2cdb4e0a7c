/// A sound that the shell has read, for those who order that it is played.
public struct PreparedSound: Hashable, Sendable {
  /// By which the shell finds its samples.
  public var number: UInt64
  /// What it is called in a call's story: `greeting`, or a few words of a text.
  public var name: String
  public var milliseconds: Int64

  public init(number: UInt64, name: String, milliseconds: Int64) {
    self.number = number
    self.name = name
    self.milliseconds = milliseconds
  }
}
