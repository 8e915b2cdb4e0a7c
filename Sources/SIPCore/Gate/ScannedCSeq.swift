/// A CSeq header field (RFC 3261 section 20.16).
public struct ScannedCSeq: Hashable, Sendable {
  /// What stands before the first blank, digits or not.
  public let number: ScannedNumber
  /// Empty when there is none or it is no token.
  public let method: String

  init(_ value: ArraySlice<UInt8>) {
    let digits = value.prefix { !MessageCharacter.isBlank($0) }
    let rest = value[digits.endIndex...].drop(while: MessageCharacter.isBlank)
    number = ScannedNumber(digits)
    method = rest.allSatisfy(MessageCharacter.isToken) ? String(decoding: rest, as: UTF8.self) : ""
  }
}
