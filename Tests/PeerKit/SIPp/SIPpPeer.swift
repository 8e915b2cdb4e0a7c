public import Foundation

/// One run of SIPp: one scenario, one call or many, and its verdict.
public final class SIPpPeer: Sendable {
  public enum Role: Sendable {
    /// Waits for a call.
    case server
    /// Calls this port on loopback.
    case client(target: UInt16)
  }

  public enum Transport: String, Sendable {
    case udp = "u1"
    case tcp = "t1"
  }

  public struct Options: Sendable {
    public var transport = Transport.udp
    /// 127.0.0.1 or ::1.
    public var host = "127.0.0.1"
    /// Where it sends from; `nil` for ``host``.
    public var ownHost: String?
    /// The user part that a client calls.
    public var user = "service"
    /// The port on loopback that a server calls its remote one, for scenarios that name it.
    public var remote: UInt16?
    /// What stands for `[name]` in the scenario.
    public var keys: [String: String] = [:]
    /// How many calls it makes or takes, `nil` for as many as come; and how many it starts in a second.
    public var calls: Int? = 1
    public var callsPerSecond = 100
    /// Whether a message that the scenario does not expect ends the call: SIPp takes some repetitions for such.
    public var abortsOnUnexpected = true
    public var account: (user: String, password: String)?
    /// Whether every datagram on its media port goes back to where it came from.
    public var echoesMedia = false
    /// How long SIPp waits for any one message.
    public var patienceMilliseconds = 20_000
    public init() {}
  }

  public let port: UInt16
  private let process: PeerProcess
  private let scenario: String

  /// Starts it with the scenario of a file; a server is ready when this returns.
  public convenience init(_ scenario: URL, as role: Role, _ options: Options = Options()) async throws {
    try await self.init(
      named: scenario.deletingPathExtension().lastPathComponent,
      String(decoding: try Data(contentsOf: scenario), as: UTF8.self), as: role, options)
  }

  /// Starts it with a scenario that is here as XML; a server is ready when this returns.
  public init(named name: String, _ scenario: String, as role: Role, _ options: Options = Options()) async throws {
    let folder = try TemporaryFolder("sipp")
    self.scenario = name
    port = try FreePort.next()
    // SIPp's own keys do not reach into status lines.
    var text = scenario
    for (name, value) in options.keys { text = text.replacing("[\(name)]", with: value) }
    let file = try folder.write(text, to: "scenario.xml")
    var arguments = [
      "-sf", file.path, "-r", String(options.callsPerSecond), "-i", options.ownHost ?? options.host, "-p", String(port),
    ]
    if let calls = options.calls { arguments += ["-m", String(calls), "-l", String(calls)] }
    arguments += [
      "-mi", options.ownHost ?? options.host, "-mp", String(try FreePort.next()), "-cp", String(try FreePort.next()),
    ]
    arguments += ["-t", options.transport.rawValue, "-d", "200", "-nostdin", "-skip_rlimit", "-s", options.user]
    arguments += ["-recv_timeout", String(options.patienceMilliseconds), "-timeout", "150s", "-timeout_error"]
    arguments += ["-trace_err", "-error_file", "errors.log", "-trace_msg", "-message_file", "messages.log"]
    if !options.abortsOnUnexpected { arguments += ["-default_behaviors", "all,-abortunexp"] }
    if options.echoesMedia { arguments.append("-rtp_echo") }
    if let account = options.account { arguments += ["-au", account.user, "-ap", account.password] }
    let remote: UInt16? =
      switch role {
      case .client(let target): target
      case .server: options.remote
      }
    if let target = remote {
      arguments.append(options.host.contains(":") ? "[\(options.host)]:\(target)" : "\(options.host):\(target)")
    }
    process = try PeerProcess(.sipp, arguments, in: folder)
    if case .server = role { try await process.listens(on: port) }
  }

  /// Waits for the end of the run.
  /// - Throws: ``PeerFailure`` with the last lines of SIPp's error log unless the scenario went through.
  public func succeeds(within seconds: Double = 30) async throws {
    let status: Int32
    do { status = try await process.exited(within: seconds) } catch {
      throw PeerFailure("\(scenario): SIPp still waits after \(seconds) s; last messages: \(transcript.lastLines(30))")
    }
    guard status == 0 else {
      throw PeerFailure("\(scenario): SIPp says \(status): \(complaint)", wasLate: sawDelay)
    }
  }

  /// Every message that SIPp sent and received.
  public var transcript: String { process.folder.text("messages.log") }

  /// Whether the machine was too slow for the script: any message went or came twice, or a 100 came that it does not
  /// know, which is sent only where nothing else was for 200 ms (RFC 3261 section 17.2.1).
  public var sawDelay: Bool { sawRepetition || errors.contains("received 'SIP/2.0 100 Trying") }

  /// Whether any message went or came twice.
  var sawRepetition: Bool {
    var seen: Set<String> = []
    for record in transcript.components(separatedBy: String(repeating: "-", count: 40)) {
      guard let start = record.range(of: "\n\n") else { continue }
      if !seen.insert(String(record[start.upperBound...])).inserted { return true }
    }
    return false
  }

  /// The end of SIPp's error log, on one line.
  public var complaint: String { errors.lastLines(12) }

  private var errors: String {
    let log = process.folder.text("errors.log")
    return log.isEmpty ? process.diagnostics : log
  }
}
