import Foundation
public import SecureTransport

/// The noise of a quiet room, in place of silence (RFC 3389).
public struct ComfortNoise {
  /// What a comfort noise packet says.
  public struct Payload: Hashable, Sendable {
    /// Most coefficients that are used; more are read over.
    public static let maximumOrder = 12

    /// Loudness in -dBov, 0 to 127: 0 is the loudest square wave there is.
    public var level: Int
    /// Shape of the spectrum: reflection coefficients between -1 and 1, at most ``maximumOrder``.
    public var reflections: [Double]

    /// Brings values into range: the level to 0 to 127, coefficients to ±0.99, at most ``maximumOrder`` of them.
    public init(level: Int, reflections: [Double] = []) {
      self.level = min(max(level, 0), 127)
      self.reflections = reflections.prefix(Payload.maximumOrder).map { min(max($0, -0.99), 0.99) }
    }

    /// `nil` without a byte.
    public init?(_ packet: PacketBuffer, offset: Int, count: Int) {
      guard offset >= 0, count > 0, offset <= packet.count, count <= packet.count - offset else { return nil }
      let order = min(count - 1, Payload.maximumOrder)
      self.init(
        level: Int(packet[offset] & 0x7F),
        reflections: (0..<order).map { index in
          let code = packet[offset + 1 + index]
          return code == 255 ? 0 : Double(258 * (Int(code) - 127)) / 32_768
        })
    }

    /// Appends it. `false`: no room.
    public func write(into packet: PacketBuffer) -> Bool {
      guard packet.count + 1 + reflections.count <= PacketBuffer.capacity - AudioEncoder.reserve else { return false }
      packet.append(UInt8(level))
      for value in reflections { packet.append(UInt8(min(max((value * 32_768 / 258).rounded() + 127, 0), 254))) }
      return true
    }
  }

  private var state: UInt64
  private var excitation = 0.0
  private var coefficients = [Double](repeating: 0, count: Payload.maximumOrder)
  private var memory = [Double](repeating: 0, count: Payload.maximumOrder + 1)
  private var order = 0

  /// The same seed gives the same noise.
  public init(seed: UInt64, _ payload: Payload) {
    state = seed | 1
    change(to: payload)
  }

  /// A new packet came; the noise goes on without a break.
  public mutating func change(to payload: Payload) {
    order = payload.reflections.count
    // The filter below adds power; so much less goes in.
    var remaining = 1.0
    for index in 0..<order {
      coefficients[index] = payload.reflections[index]
      remaining *= 1 - coefficients[index] * coefficients[index]
    }
    // A uniform number between -1 and 1 has the power 1/3.
    let loudness = 32_768 * pow(10, -Double(payload.level) / 20)
    excitation = loudness * (3 * remaining).squareRoot()
  }

  /// Replaces `samples` by the next `count`, at most a sample buffer's capacity.
  public mutating func fill(_ samples: SampleBuffer, count: Int) {
    samples.count = min(max(count, 0), SampleBuffer.capacity)
    samples.withUnsafeMutableRoom { room in
      for index in 0..<samples.count {
        room[index] = Int16(min(max(next().rounded(), -32_768), 32_767))
      }
    }
  }

  /// White noise through an all-pole lattice.
  @inline(__always)
  private mutating func next() -> Double {
    // xorshift64: cheap, and no secret depends on it.
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    var forward = excitation * (Double(state >> 11) / Double(1 << 52) - 1)
    var index = order
    while index > 0 {
      index -= 1
      forward -= coefficients[index] * memory[index]
      memory[index + 1] = memory[index] + coefficients[index] * forward
    }
    memory[0] = forward
    return forward
  }

  /// Loudness of some sound in -dBov, 0 to 127.
  public static func level(of samples: SampleBuffer) -> Int {
    guard samples.count > 0 else { return 127 }
    let power = samples.withUnsafeMutableRoom { room in
      room[..<samples.count].reduce(0.0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    }
    guard power > 0 else { return 127 }
    return Int(min(max(-10 * log10(power / (32_768 * 32_768)), 0), 127).rounded())
  }
}
