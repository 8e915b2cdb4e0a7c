import Foundation

/// A linphone-daemon on loopback over UDP, steered by the lines that its `help` lists.
public final class LinphonePeer: Sendable {
  private let process: PeerProcess
  private let input: ProcessInput

  public init() async throws {
    let folder = try TemporaryFolder("linphone")
    // Without a place for its database it takes no calls.
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent(".local/share/linphone"), withIntermediateDirectories: true)
    try folder.write(
      """
      [sip]
      sip_port=\(try FreePort.next())
      sip_tcp_port=-1
      sip_tls_port=-1
      bind_address=127.0.0.1
      register_only_when_network_is_up=0
      keepalive_period=30000
      [rtp]
      bind_address=127.0.0.1
      audio_rtp_port=-1
      [video]
      capture=0
      display=0

      """, to: "rc")
    guard let path = PeerProgram.linphone.path else { throw PeerFailure(PeerProgram.linphone.absence) }
    let input = try ProcessInput()
    self.input = input
    defer { input.started() }
    process = try PeerProcess(
      path: path,
      ["--config", folder.url.appendingPathComponent("rc").path, "--log", "sip.log", "--disable-stats-events"],
      environment: nil, startedIn: folder.url, in: folder, input: input.programEnd)
    try run("ipv6 disable")
    try await process.says("State: disabled")
  }

  /// Runs a command: `call ADDRESS`, `answer ID`, `call-transfer ID ID|ADDRESS`, `incall-player-start FILE`, `terminate`.
  public func run(_ command: String) throws {
    guard input.write("\(command)\n".utf8) else { throw PeerFailure("linphone does not take \(command):\n\(log)") }
  }

  /// Registers and waits until that is done.
  public func register(_ user: String, at registrar: UInt16, password: String) async throws {
    let host = "127.0.0.1:\(registrar)"
    try run("register sip:\(user)@\(host) sip:\(host) \(password)")
    let deadline = Deadline(seconds: 10)
    _ = try await deadline.first("registration of linphone:\n\(log)", everyMilliseconds: 100) { () -> Bool? in
      try run("register-status ALL")
      return process.output.contains("State: LinphoneRegistrationOk") ? true : nil
    }
  }

  /// Waits until a call is in a state: `IncomingReceived`, `StreamsRunning`, `Paused`, `End`, `Released`.
  /// - Parameter call: its calls have the numbers 1, 2, … in the order of their beginnings.
  public func state(_ state: String, of call: Int = 1, within seconds: Double = 20) async throws {
    _ = try await Deadline(seconds: seconds).first("\(state) of call \(call) at linphone:\n\(log)") { () -> Bool? in
      reached(call).contains(state) ? true : nil
    }
  }

  /// Every state that a call has been in.
  private func reached(_ call: Int) -> [String] {
    let lines = process.output.split(separator: "\n")
    return lines.indices.compactMap { place in
      let prefix = "Event: LinphoneCall"
      guard lines[place].hasPrefix(prefix),
        lines[place...].prefix(4).first(where: { $0.hasPrefix("Id: ") }) == "Id: \(call)"
      else { return nil }
      return String(lines[place].dropFirst(prefix.count))
    }
  }

  /// What it said, its errors, and its log with the SIP messages.
  public var log: String {
    process.output + process.diagnostics.lastLines(20) + "\n" + process.folder.text("sip.log").lastLines(200)
  }
}
