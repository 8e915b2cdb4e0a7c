import CallModel
import Foundation

/// A whole gateway as a process of its own: `serve` with a configuration made for one run, its ledger on disk.
final class BenchGateway {
  /// Where the gateway's doors are, and the peer that all of its calls go to.
  struct Ports: Sendable {
    let web: UInt16
    let signalling: UInt16
    let media: UInt16
    /// The callee, which others start.
    let callee: UInt16

    /// Ports that nobody has.
    init() throws(BenchProblem) {
      web = try LoopbackSockets.freeStreamPort()
      signalling = try PeerProgram.freePort()
      media = try PeerProgram.freePort()
      callee = try PeerProgram.freePort()
    }
  }

  /// What the application of the benchmark proves itself with.
  static let applicationKey = "5b1f7f0c-6d0e-4d4c-9c39-0a2f6b7e1d55"
  static let applicationSecret = Base64.encode((0..<16).map { UInt8($0 * 11 & 0xFF) })
  static let callerNumber = "+46701234567"
  static let account = "bench"
  /// Below the system's own range, above what gateways take by themselves.
  private static let trunkPorts = "10400-32399"

  let ports: Ports
  let program: PeerProgram
  /// `nil` where they are not counted.
  let allocations: AllocationCounter?
  /// Milliseconds from the start of the process to each of its doors open.
  let start: ReadyProbe.Times

  var processIdentifier: Int32 { program.identifier }

  /// Starts a gateway and waits until it takes calls.
  /// - Parameters:
  ///   - executable: `landline`.
  ///   - folder: For the configuration and what the gateway keeps; the ledger is made there if there is none.
  ///   - ledger: The ledger's file; `nil` for ``GatewayBooks/ledger(in:)``.
  ///   - ledgerCache: Mebibytes of the ledger in memory; `nil` for as many as usual.
  ///   - startSeconds: That it may take.
  ///   - allocations: the library that counts them, if they are to be counted.
  init(
    executable: String, folder: String, ports: Ports, ledger: String? = nil, ledgerCache: Int? = nil,
    startSeconds: Double = 30, allocations library: String? = nil
  ) throws(BenchProblem) {
    allocations = try library.map { library throws(BenchProblem) in
      try AllocationCounter(library: library, folder: folder)
    }
    let file = "\(folder)/landline.yaml"
    let text = Self.configuration(
      folder: folder, ports: ports, ledger: ledger ?? GatewayBooks.ledger(in: folder), ledgerCache: ledgerCache)
    guard
      FileManager.default.createFile(atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
    else { throw BenchProblem("\(file) cannot be written") }
    let log = open("\(folder)/gateway.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard log >= 0 else { throw BenchProblem("the gateway's log cannot be made in \(folder)") }
    defer { close(log) }
    let probe = try ReadyProbe(web: ports.web, signalling: ports.signalling)
    let began = ProcessClock.monotonicSeconds()
    let program = try PeerProgram(
      executable, ["serve", "--config", file], output: log, environment: allocations?.environment ?? [:])
    self.ports = ports
    self.program = program
    do {
      start = try probe.wait(since: began, seconds: startSeconds) { program.isRunning }
    } catch {
      program.end()
      throw BenchProblem("the gateway does not start: \(error)\(Self.lastWords(folder))")
    }
  }

  /// Ends the process as an operator would; one that does not end in time is killed.
  /// - Parameter seconds: That it may take.
  func stop(within seconds: Double = 10) {
    guard program.isRunning else { return }
    kill(program.identifier, SIGTERM)
    let end = ProcessClock.monotonicSeconds() + seconds
    while program.isRunning, ProcessClock.monotonicSeconds() < end { usleep(10_000) }
    program.end()
  }

  /// Seconds of user and system time so far.
  func processorSeconds() throws(BenchProblem) -> Double {
    Double(try ProcessFigures.processorTicks(processIdentifier)) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private static func lastWords(_ folder: String) -> String {
    let text = (try? String(contentsOfFile: "\(folder)/gateway.log", encoding: .utf8)) ?? ""
    let lines = text.split(separator: "\n").suffix(5)
    return lines.isEmpty ? "" : "; it said: " + lines.joined(separator: " | ")
  }

  private static func configuration(folder: String, ports: Ports, ledger: String, ledgerCache: Int?) -> String {
    """
    node: bench
    state: "\(folder)"
    listeners:
      udp:
        transport: udp
        bind: 127.0.0.1:\(ports.signalling)
    http:
      bind: 127.0.0.1:\(ports.web)
      # All apps of the benchmark are one host.
      limits:
        connections: 100000
        connections-per-host: 100000
        sessions: 100000
        requests-per-second: 100000
        burst: 100000
        registrations-per-second: 100000
    media:
      app:
        - bind: 127.0.0.1
          port: \(ports.media)
      trunk:
        - bind: 127.0.0.1
          ports: \(trunkPorts)
    calls:
      maximum: 100000
      per-session: 10000
      # Calls without media stay up until they are measured.
      media-set-up: 120s
      dead-media: 1h
    drain:
      timeout: 0s
    log:
      level: warning
    trunks:
      callee:
        uri: "sip:127.0.0.1:\(ports.callee);transport=udp"
        codecs: [pcmu, pcma]
        ping: 0s
    environments:
      production:
        ledger: "\(ledger)"\(ledgerCache.map { "\n    ledger-cache: \($0)" } ?? "")
        trunks: [callee]
        velocity: []
        applications:
          bench:
            key: \(applicationKey)
            secret: "\(applicationSecret)"
            account: \(account)
            caller-numbers: ["\(callerNumber)"]

    """
  }
}

/// The ledger of a gateway under test: one account with prices and more credit than any run spends.
enum GatewayBooks {
  static let creditMicro: MicroUnits = 10_000_000_000_000

  static func ledger(in folder: String) -> String { "\(folder)/ledger.db" }

  /// Makes the ledger with the commands that an operator would give.
  static func prepare(executable: String, folder: String) throws(BenchProblem) {
    let (ledger, deck) = (ledger(in: folder), "\(folder)/bench.csv")
    do {
      try "prefix,name,rate,fee,initial,increment,grace,flags\n467,Sweden mobile,0.0145,0,60,1,0,\n"
        .write(toFile: deck, atomically: true, encoding: .utf8)
    } catch {
      throw BenchProblem("\(deck) cannot be written: \(error.localizedDescription)")
    }
    let account = BenchGateway.account
    for arguments in [
      ["account", "create", account, "--currency", "EUR"],
      ["deck", "import", deck, "--name", "bench", "--version", "1", "--currency", "EUR", "--activate-from", "now"],
      ["plan", "create", "bench", "bench"], ["account", "set-plan", account, "bench"],
      ["topup", account, "\(creditMicro / 1_000_000)"],
    ] {
      let code = try PeerProgram(executable, arguments + ["--database", ledger]).wait()
      guard code == 0 else { throw BenchProblem("landline \(arguments.joined(separator: " ")) ended with \(code)") }
    }
  }
}
