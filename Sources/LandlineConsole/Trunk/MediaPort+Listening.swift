import CallModel
import Dispatch
import Glibc
import SDPCore

extension MediaPort {
  /// Sound that came while it was listened for.
  struct Heard: Sendable {
    /// RTP packets.
    var packets = 0
    /// Of the first that came: what it says it is, and where it came from.
    var payloadType: Int?
    var source: String?
    /// From the start of listening.
    var firstMilliseconds: Int64?
    /// Packets that are missing by their numbers.
    var missing = 0
  }

  /// Most packets that are looked at: what a stream of 10 ms brings in half a minute.
  private static let maximumPackets = 3_000

  /// Listens, and sends silence, so that a peer that waits for packets before it sends has some.
  /// - Parameter plan: what was agreed; nothing is sent where the sound is encrypted or no G.711.
  func listen(milliseconds: Int64, _ plan: MediaPlan) async -> Heard {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: self.exchange(milliseconds, plan)) }
    }
  }

  private func exchange(_ milliseconds: Int64, _ plan: MediaPlan) -> Heard {
    let silence = Silence(plan)
    let clock = ContinuousClock()
    let start = clock.now
    var heard = Heard()
    var numbers: (first: UInt16, highest: UInt16)?
    var buffer = [UInt8](repeating: 0, count: 2048)
    var sent = 0
    while heard.packets < MediaPort.maximumPackets {
      let elapsed = Int64((clock.now - start) / .milliseconds(1))
      guard elapsed < milliseconds else { break }
      if let silence, elapsed >= Int64(sent * plan.audio.packetTime) {
        send(silence.packet(sent), to: plan.remote)
        sent += 1
      }
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&poller, 1, CInt(min(milliseconds - elapsed, 10))) > 0 else { continue }
      let (count, source) = receive(&buffer)
      // Version 2, and no RTCP on the same port (RFC 5761).
      guard count >= 12, buffer[0] >> 6 == 2, !(192...223).contains(buffer[1]) else { continue }
      heard.packets += 1
      let number = UInt16(buffer[2]) << 8 | UInt16(buffer[3])
      if heard.payloadType == nil {
        heard.payloadType = Int(buffer[1] & 0x7F)
        heard.source = source
        heard.firstMilliseconds = elapsed
      }
      guard let known = numbers else {
        numbers = (number, number)
        continue
      }
      if number &- known.highest < 0x8000 { numbers?.highest = number }
    }
    if let numbers { heard.missing = max(0, Int(numbers.highest &- numbers.first) + 1 - heard.packets) }
    return heard
  }

  /// Packets of silence in G.711.
  private struct Silence {
    private let payloadType: UInt8
    private let byte: UInt8
    private let count: Int
    private let source = UInt32.random(in: 1...UInt32.max)

    init?(_ plan: MediaPlan) {
      guard case .none = plan.protection else { return nil }
      switch plan.audio.send.codec {
      case .pcma: byte = 0xD5
      case .pcmu: byte = 0xFF
      default: return nil
      }
      payloadType = UInt8(truncatingIfNeeded: plan.audio.send.payloadType.number)
      count = 8 * plan.audio.packetTime
    }

    func packet(_ index: Int) -> [UInt8] {
      func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian, Array.init)
      }
      return [0x80, index == 0 ? payloadType | 0x80 : payloadType] + bytes(UInt16(truncatingIfNeeded: index))
        + bytes(UInt32(truncatingIfNeeded: index * count)) + bytes(source) + [UInt8](repeating: byte, count: count)
    }
  }
}
