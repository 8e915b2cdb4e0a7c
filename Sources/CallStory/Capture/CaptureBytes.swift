/// Bytes of a capture as they grow.
struct CaptureBytes {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// As the machine that reads it most likely has it: the file says so itself.
  mutating func little<T: FixedWidthInteger>(_ value: T) {
    for shift in stride(from: 0, to: T.bitWidth, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> T(shift))) }
  }

  /// Network byte order.
  mutating func big<T: FixedWidthInteger>(_ value: T) {
    for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> T(shift)))
    }
  }

  mutating func pad(to multiple: Int) {
    while !bytes.count.isMultiple(of: multiple) { bytes.append(0) }
  }
}
