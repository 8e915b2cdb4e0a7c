/// ITU-T G.711: eight bits for a sample, at 8 kHz.
public enum G711: Hashable, Sendable {
  case muLaw, aLaw

  /// One sample. Equal steps of the law share a code; a sample on the border of two may get either.
  @inlinable public func encode(_ sample: Int16) -> UInt8 {
    switch self {
    case .muLaw: G711.muLawCodes[Int(sample >> 2) + 8192]
    case .aLaw: G711.aLawCodes[Int(sample >> 3) + 4096]
    }
  }

  /// One code.
  @inlinable public func decode(_ code: UInt8) -> Int16 {
    switch self {
    case .muLaw: G711.muLawSamples[Int(code)]
    case .aLaw: G711.aLawSamples[Int(code)]
    }
  }

  /// The code of silence.
  public var silence: UInt8 { encode(0) }

  package func encode(_ samples: UnsafeBufferPointer<Int16>, into codes: UnsafeMutableBufferPointer<UInt8>) {
    // Both buffers are of this process; what follows writes without looking.
    precondition(codes.count >= samples.count, "no room for the codes")
    guard let source = samples.baseAddress, let target = codes.baseAddress else { return }
    switch self {
    case .muLaw:
      G711.muLawCodes.withUnsafeBufferPointer { table in
        for index in 0..<samples.count { target[index] = table[Int(source[index] >> 2) &+ 8192] }
      }
    case .aLaw:
      G711.aLawCodes.withUnsafeBufferPointer { table in
        for index in 0..<samples.count { target[index] = table[Int(source[index] >> 3) &+ 4096] }
      }
    }
  }

  package func decode(_ codes: UnsafeBufferPointer<UInt8>, into samples: UnsafeMutableBufferPointer<Int16>) {
    // The packet was measured against the room before; what follows writes without looking.
    precondition(samples.count >= codes.count, "no room for the samples")
    guard let source = codes.baseAddress, let target = samples.baseAddress else { return }
    (self == .muLaw ? G711.muLawSamples : G711.aLawSamples).withUnsafeBufferPointer { table in
      for index in 0..<codes.count { target[index] = table[Int(source[index])] }
    }
  }

  /// The law looks at 14 bits of a sample: 16 KiB.
  @usableFromInline static let muLawCodes = (-8192...8191).map { muLawCode($0 << 2) }
  /// The law looks at 13 bits of a sample: 8 KiB.
  @usableFromInline static let aLawCodes = (-4096...4095).map { aLawCode($0 << 3) }
  @usableFromInline static let muLawSamples = (0...255).map { muLawSample(UInt8($0)) }
  @usableFromInline static let aLawSamples = (0...255).map { aLawSample(UInt8($0)) }

  /// Sign, three bits of segment, four of step; all bits inverted.
  private static func muLawCode(_ sample: Int) -> UInt8 {
    let magnitude = min(abs(sample) + 132, 0x7FFF)
    let segment = Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7
    let step = magnitude >> (segment + 3) & 0x0F
    return ~UInt8((sample < 0 ? 0x80 : 0) | segment << 4 | step)
  }

  /// Sign, three bits of segment, four of step; even bits inverted.
  private static func aLawCode(_ sample: Int) -> UInt8 {
    let magnitude = sample < 0 ? ~sample : sample
    let segment = max(Int.bitWidth - 1 - magnitude.leadingZeroBitCount - 7, 0)
    let step = magnitude >> (max(segment, 1) + 3) & 0x0F
    return UInt8((sample < 0 ? 0 : 0x80) | segment << 4 | step) ^ 0x55
  }

  private static func muLawSample(_ code: UInt8) -> Int16 {
    let bits = Int(~code)
    let magnitude = ((((bits & 0x0F) << 3) + 132) << (bits >> 4 & 7)) - 132
    return Int16(bits & 0x80 != 0 ? -magnitude : magnitude)
  }

  private static func aLawSample(_ code: UInt8) -> Int16 {
    let bits = Int(code ^ 0x55)
    let segment = bits >> 4 & 7
    let step = ((bits & 0x0F) << 4) + 8
    let magnitude = segment == 0 ? step : (step + 0x100) << (segment - 1)
    return Int16(bits & 0x80 != 0 ? magnitude : -magnitude)
  }
}
