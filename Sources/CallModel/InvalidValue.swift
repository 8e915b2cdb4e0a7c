/// Why a text was refused as a value: which rule, where, and what would have been accepted.
///
/// Every validated value of this module throws this one type, so that a command line, a web page and a
/// protocol error can all render the same three facts.
public struct InvalidValue: Error, Hashable, Sendable {
  /// What was being read, as a person would call it: `phone number`, `SIP address`, `amount`.
  public let kind: String
  /// Stable dotted name of the broken rule: `e164.plus`, `amount.scale`. Tests and clients match on it.
  public let rule: String
  /// Zero-based UTF-8 offset of the first offending byte; `nil` when the whole value is at fault.
  public let offset: Int?
  /// One sentence that says what is wrong.
  public let problem: String
  /// What would be accepted, with an example.
  public let accepted: String

  /// Nothing is checked: `problem` must not quote the value whole, as a description of this error may be logged.
  public init(kind: String, rule: String, offset: Int?, problem: String, accepted: String) {
    self.kind = kind
    self.rule = rule
    self.offset = offset
    self.problem = problem
    self.accepted = accepted
  }
}

extension InvalidValue: CustomStringConvertible {
  /// `phone number: character 4 is a space (e164.digit); accepted: + and …`. Safe to log: never echoes the value whole.
  public var description: String {
    let place = offset.map { " at character \($0 + 1)" } ?? ""
    return "\(kind)\(place): \(problem) (\(rule)); accepted: \(accepted)"
  }
}

extension InvalidValue {
  /// A byte as a person would name it in a message: printable ASCII as itself, the rest as a code.
  package static func name(of byte: UInt8) -> String {
    switch byte {
    case 0x20: "a space"
    case 0x09: "a tab"
    case 0x0A: "a line feed"
    case 0x0D: "a carriage return"
    case 0x21...0x7E: "'\(Character(Unicode.Scalar(byte)))'"
    case 0x80...0xFF: "a character outside ASCII"
    default: "control byte \(byte)"
    }
  }
}
