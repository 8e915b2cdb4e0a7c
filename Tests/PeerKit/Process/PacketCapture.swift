import Foundation

/// tshark on the loopback interface: every RTP packet on the ports of a gateway, one by one. Of SRTP it reads the header,
/// which is not encrypted.
public final class PacketCapture: Sendable {
  /// RTP packets of one source, in the order in which they came.
  public struct Stream: Sendable {
    public let source: UInt16
    public let target: UInt16
    /// Seconds, sequence number, timestamp.
    public let packets: [(at: Double, number: UInt16, timestamp: UInt32)]

    /// What is missing between the first `count` packets (RFC 3550 appendix A.3); they come in order on loopback.
    public func lost(among count: Int) -> Int {
      var gaps = 0
      for (packet, next) in zip(packets.prefix(count), packets.prefix(count).dropFirst()) {
        gaps += Int(next.number &- packet.number) - 1
      }
      return gaps
    }

    /// Milliseconds after the first `count` packets (RFC 3550 appendix A.8).
    public func jitter(among count: Int, clockRate: Double) -> Double {
      var jitter = 0.0
      for (packet, next) in zip(packets.prefix(count), packets.prefix(count).dropFirst()) {
        let ticks = Double(Int32(bitPattern: next.timestamp &- packet.timestamp))
        jitter += (abs((next.at - packet.at) * clockRate - ticks) - jitter) / 16
      }
      return jitter / clockRate * 1_000
    }
  }

  private let process: PeerProcess
  private let file: String
  private let app: UInt16

  /// Captures from now on.
  /// - Parameters:
  ///   - ports: of trunks, whose packets say by themselves what they are.
  ///   - app: where apps send SRTP, among STUN and DTLS.
  public init(ports: ClosedRange<UInt16>, and app: UInt16) async throws {
    self.app = app
    let folder = try TemporaryFolder("tshark")
    file = folder.url.appendingPathComponent("packets.pcapng").path
    process = try PeerProcess(
      .tshark,
      [
        "-n", "-q", "-i", "lo", "-w", file, "-f",
        "udp portrange \(ports.lowerBound)-\(ports.upperBound) or udp port \(app)",
      ], in: folder)
    try await process.says("Capturing on")
  }

  /// Looks at the file, with the same size, before it counts as whole.
  private static let quietLooks = 6

  /// Packets reach the file in blocks; what the kernel still holds would be lost with the signal.
  private func settled() async throws {
    var size = -1
    var looks = 0
    _ = try await Deadline(seconds: 20).first("the end of what is captured", everyMilliseconds: 100) { () -> Bool? in
      let now = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
      looks = now == size ? looks + 1 : 0
      size = now
      return looks >= Self.quietLooks ? true : nil
    }
  }

  /// Ends the capture, once nothing comes any more.
  /// - Returns: every stream that had packets, the longest first.
  public func streams() async throws -> [Stream] {
    try await settled()
    process.interrupt()
    _ = try await process.exited(within: 20)
    let fields = ["frame.time_epoch", "udp.srcport", "udp.dstport", "rtp.ssrc", "rtp.seq", "rtp.timestamp"]
    // Payload types from 64 to 95 are RTCP's (RFC 5761).
    let read = try await PeerProcess.run(
      .tshark,
      [
        "-n", "-r", file, "--enable-heuristic", "rtp_udp", "-d", "udp.port==\(app),rtp", "-Y",
        "rtp.version == 2 && (rtp.p_type < 64 || rtp.p_type > 95)", "-T", "fields",
      ] + fields.flatMap { ["-e", $0] })
    try requireEnd(read)
    var streams: [String: [(at: Double, number: UInt16, timestamp: UInt32)]] = [:]
    for line in read.output.split(separator: "\n") {
      let cells = line.split(separator: "\t").map(String.init)
      guard cells.count == fields.count, let at = Double(cells[0]), let number = UInt16(cells[4]),
        let timestamp = UInt32(cells[5])
      else { continue }
      streams["\(cells[1]) \(cells[2]) \(cells[3])", default: []].append((at, number, timestamp))
    }
    return streams.compactMap { key, packets in
      let ports = key.split(separator: " ").compactMap { UInt16($0) }
      guard ports.count >= 2 else { return nil }
      return Stream(source: ports[0], target: ports[1], packets: packets)
    }.sorted { $0.packets.count > $1.packets.count }
  }

  private func requireEnd(_ read: PeerProcess.Result) throws {
    guard read.status == 0 else { throw PeerFailure("tshark: \(read.diagnostics.lastLines(5))") }
  }
}
