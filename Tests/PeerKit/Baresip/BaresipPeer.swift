public import Foundation

/// A baresip with one account, steered through its control port.
public final class BaresipPeer: Sendable {
  public enum Transport: String, Sendable, CaseIterable { case udp, tcp, tls }
  public enum AnswerMode: String, Sendable { case manual, early, auto }

  /// Sound instead of silence.
  public struct Sound: Sendable {
    /// What its microphone hears once a call is up: WAV, one channel. At its end baresip hangs up.
    public var file: URL
    /// Hz of the file. baresip's own conversion to the codec's rate is a rough one.
    public var samplingRate: Int
    /// In its own words and order: `PCMU/8000/1`, `G722/16000/1`, `opus/48000/2`.
    public var codecs: [String]
    /// Plain RTP is neither offered nor taken (RFC 4568).
    public var requiresSRTP: Bool

    public init(_ file: URL, samplingRate: Int, codecs: [String], requiresSRTP: Bool = false) {
      self.file = file
      self.samplingRate = samplingRate
      self.codecs = codecs
      self.requiresSRTP = requiresSRTP
    }
  }

  /// Where it registers, and calls go.
  public struct Registrar: Sendable {
    public var port: UInt16
    public var password: String

    public init(port: UInt16, password: String) {
      self.port = port
      self.password = password
    }
  }

  /// For UDP and TCP; TLS listens one above.
  public let port: UInt16
  public var tlsPort: UInt16 { port + 1 }
  private let process: PeerProcess
  private let control: ControlConnection
  private let folder: TemporaryFolder

  /// - Parameters:
  ///   - user: of its account; calls for others get 404.
  ///   - transport: of the calls it makes.
  ///   - certificates: its own and the authority it trusts; needed for TLS.
  ///   - sound: what it says and keeps; without it, it says nothing.
  ///   - parameters: further ones of its account, such as `;sipnat=outbound`.
  ///   - registrar: `nil` to register nowhere.
  public init(
    user: String = "bob", transport: Transport, answerMode: AnswerMode = .manual,
    certificates: CertificateFolder? = nil,
    sound: Sound? = nil, parameters: String = "", registrar: Registrar? = nil
  ) async throws {
    folder = try TemporaryFolder("baresip")
    port = try FreePort.next()
    let controlPort = try FreePort.next()
    var lines = [
      "poll_method epoll", "sip_listen 127.0.0.1:\(port)", "call_max_calls 8",
      "audio_player aubridge,far", "audio_alert aubridge,alert", "rtp_timeout 0", "module_path \(Self.modules)",
      "module g711.so", "module aubridge.so",
      "module_tmp account.so", "module_app menu.so", "module ctrl_tcp.so", "ctrl_tcp_listen 127.0.0.1:\(controlPort)",
    ]
    var account = parameters
    if let sound {
      // Its descriptions name another address than it is bound to, unless it knows this one alone.
      lines += [
        "net_interface 127.0.0.1", "audio_source aufile,\(sound.file.path)", "ausrc_srate \(sound.samplingRate)",
        "ausrc_channels 1",
        "module g722.so", "module opus.so", "module srtp.so", "module aufile.so", "module sndfile.so",
        "snd_path \(folder.url.path)",
      ]
      account +=
        ";audio_codecs=\(sound.codecs.joined(separator: ","))" + (sound.requiresSRTP ? ";mediaenc=srtp-mand" : "")
    } else {
      lines += ["audio_source aubridge,near", "audio_srate 8000", "audio_channels 1"]
    }
    if let certificates {
      // baresip wants the key and the certificate in one file.
      let parts = try [certificates.server.key, certificates.server.certificate].map { try Data(contentsOf: $0) }
      try folder.write(parts.map { String(decoding: $0, as: UTF8.self) }.joined(), to: "server.pem")
      lines += ["sip_certificate \(folder.url.path)/server.pem", "sip_cafile \(certificates.authority.path)"]
    }
    try folder.write(lines.joined(separator: "\n") + "\n", to: "config")
    let host = registrar.map { "127.0.0.1:\($0.port)" } ?? "127.0.0.1"
    let registers = registrar.map { ";regint=600;auth_user=\(user);auth_pass=\($0.password)" } ?? ";regint=0"
    try folder.write(
      "<sip:\(user)@\(host);transport=\(transport.rawValue)>\(registers);answermode=\(answerMode.rawValue)\(account)\n",
      to: "accounts")
    try folder.write("", to: "contacts")
    process = try PeerProcess(.baresip, ["-f", folder.url.path, "-s"], in: folder)
    try await process.says("baresip is ready")
    try await process.listens(on: controlPort)
    control = try ControlConnection(port: controlPort)
  }

  public static let folders = ["/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules"]
  private static var modules: String {
    folders.first { FileManager.default.fileExists(atPath: $0) } ?? folders[0]
  }

  /// Runs a command of its menu: `dial`, `accept`, `hangup`, `hold`, `resume`, `transfer`.
  public func run(_ command: String, _ parameters: String = "") throws {
    try control.send(command: command, parameters: parameters)
  }

  /// Waits for an event: `CALL_INCOMING`, `CALL_ESTABLISHED`, `CALL_CLOSED` and the like.
  /// - Returns: the event as JSON.
  @discardableResult
  public func event(_ type: String, within seconds: Double = 20) async throws -> String {
    do {
      return try await Deadline(seconds: seconds).first("\(type) from baresip") {
        control.texts().first { $0.contains("\"type\":\"\(type)\"") }
      }
    } catch {
      throw PeerFailure("\(error); its log: \(log.lastLines(12))")
    }
  }

  /// Every event of a type so far, each as JSON.
  public func events(_ type: String) -> [String] { control.texts().filter { $0.contains("\"type\":\"\(type)\"") } }

  /// What it heard, decoded; `nil` until the call is over and the file complete.
  public var recording: URL? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
    guard let name = names.first(where: { $0.hasPrefix("dump-") && $0.hasSuffix("-dec.wav") }) else { return nil }
    let file = folder.url.appendingPathComponent(name)
    guard let head = try? Data(contentsOf: file).prefix(8), head.count == 8 else { return nil }
    // The length in the first chunk is written last.
    let length = head.dropFirst(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    let size = (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int) ?? 0
    return length > 44 && length + 8 == size ? file : nil
  }

  /// Its log, SIP messages included.
  public var log: String { process.output + process.diagnostics }
}
