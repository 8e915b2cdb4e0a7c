public import CallModel

/// A value handed to the library that breaks a rule: a mistake of the calling code, found before anything is sent.
public struct ArgumentError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name of the argument: `phoneNumber`, `headers`, `keys`.
  public let argument: String
  /// Which rule, where, and what would have been accepted.
  public let value: InvalidValue

  public init(_ argument: String, _ value: InvalidValue) {
    self.argument = argument
    self.value = value
  }

  /// `phoneNumber: …`, with what is wrong and what would have been accepted.
  public var description: String { "\(argument): \(value)" }

  /// The value, or the argument's refusal.
  static func checked<Value>(
    _ argument: String, _ read: () throws(InvalidValue) -> Value
  ) throws(ArgumentError) -> Value {
    do throws(InvalidValue) { return try read() } catch { throw ArgumentError(argument, error) }
  }
}
