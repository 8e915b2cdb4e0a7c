/// A decimal number of a header field: digits only, leading zeros allowed, never wrapped.
public enum ScannedNumber: Hashable, Sendable {
  case value(UInt32)
  /// Digits, and more than 32 bits hold.
  case tooLarge
  case malformed

  init(_ digits: some Collection<UInt8>) {
    guard !digits.isEmpty else {
      self = .malformed
      return
    }
    var number: UInt32 = 0
    var overflowed = false
    for byte in digits {
      guard MessageCharacter.isDigit(byte) else {
        self = .malformed
        return
      }
      let (product, first) = number.multipliedReportingOverflow(by: 10)
      let (sum, second) = product.addingReportingOverflow(UInt32(byte &- MessageCharacter.zero))
      overflowed = overflowed || first || second
      number = sum
    }
    self = overflowed ? .tooLarge : .value(number)
  }

  /// `nil` for a malformed number and for one above 2³² − 1.
  public var number: UInt32? {
    if case .value(let number) = self { return number }
    return nil
  }
}
