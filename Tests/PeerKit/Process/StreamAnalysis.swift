import Glibc

/// tshark on the loopback interface: what it makes of the RTP streams on some UDP ports. Of SRTP it counts packets, but
/// measures no jitter.
public final class StreamAnalysis: Sendable {
  /// One stream as `rtp,streams` lists it.
  public struct Stream: Sendable {
    public let source: UInt16
    public let target: UInt16
    public let packets: Int
    public let lost: Int
    /// Milliseconds.
    public let meanJitter: Double
    public let maximumJitter: Double
  }

  private let process: PeerProcess

  /// Whether tshark is here and packets may be captured.
  public static let isPossible: Bool = {
    let descriptor = socket(AF_PACKET, Int32(SOCK_RAW.rawValue) | closesAtExec, 0)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return PeerProgram.tshark.isInstalled
  }()
  public static let absence = "tshark is absent (apt-get install tshark), or packets may not be captured here"

  /// Captures from now on.
  public init(ports: [UInt16]) async throws {
    process = try PeerProcess(
      .tshark,
      [
        "-n", "-q", "-i", "lo", "-z", "rtp,streams", "-f", ports.map { "udp port \($0)" }.joined(separator: " or "),
      ] + ports.flatMap { ["-d", "udp.port==\($0),rtp"] }, in: TemporaryFolder("tshark"))
    try await process.says("Capturing on")
  }

  /// Ends the capture.
  /// - Returns: every stream that had packets.
  public func streams() async throws -> [Stream] {
    process.interrupt()
    _ = try await process.exited(within: 20)
    guard process.output.contains("RTP Streams") else {
      throw PeerFailure("tshark: \(process.diagnostics.lastLines(5))")
    }
    return process.output.split(separator: "\n").compactMap { Self.stream($0.split(separator: " ").map(String.init)) }
  }

  /// Start, end, source, port, target, port, SSRC, payload, packets, lost (share), three deltas, three jitters.
  private static func stream(_ cells: [String]) -> Stream? {
    guard let key = cells.firstIndex(where: { $0.hasPrefix("0x") }), key >= 4, cells.count >= key + 11,
      let source = UInt16(cells[key - 3]), let target = UInt16(cells[key - 1]),
      let share = cells.firstIndex(where: { $0.hasPrefix("(") }), share > key + 2, cells.count > share + 6,
      let packets = Int(cells[share - 2]), let lost = Int(cells[share - 1]), let mean = Double(cells[share + 5]),
      let maximum = Double(cells[share + 6])
    else { return nil }
    return Stream(
      source: source, target: target, packets: packets, lost: lost, meanJitter: mean, maximumJitter: maximum)
  }
}
