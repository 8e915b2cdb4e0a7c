public import CallModel

/// A header field of ours that has no typed place: checked when it is made, so that no value can end its line.
public struct OutgoingField: Hashable, Sendable {
  /// Most bytes of a value.
  public static let maximumValueBytes = 4000

  /// A token of at most 64 bytes, and none that the builder writes by itself, such as Via or Contact.
  public let name: String
  /// At most ``maximumValueBytes``, without control bytes.
  public let value: String

  /// - Throws: ``InvalidValue`` with rules `field.name` (a token that the builder does not write itself) and
  ///   `field.value` (no control bytes, at most ``maximumValueBytes``).
  public init(_ name: String, _ value: String) throws(InvalidValue) {
    func refusal(_ rule: String, _ problem: String) -> InvalidValue {
      InvalidValue(
        kind: "header field", rule: "field.\(rule)", offset: nil, problem: problem,
        accepted: "a token and a value of at most \(OutgoingField.maximumValueBytes) bytes without control bytes")
    }
    guard !name.isEmpty, name.utf8.count <= 64, name.utf8.allSatisfy(MessageCharacter.isToken) else {
      throw refusal("name", "the name is no token of at most 64 bytes")
    }
    guard HeaderKind(name.utf8).isFree else {
      throw refusal("name", "\(name) is written by the builder itself")
    }
    guard value.utf8.count <= OutgoingField.maximumValueBytes else {
      throw refusal("value", "the value of \(name) has \(value.utf8.count) bytes")
    }
    guard !value.utf8.contains(where: MessageCharacter.isControl) else {
      throw refusal("value", "the value of \(name) holds a control byte")
    }
    self.name = name
    self.value = value
  }
}
