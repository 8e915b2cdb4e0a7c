import Foundation

/// Janus' SIP plugin with the same calls: an aiortc client for each, ICE and DTLS, and SIPp behind it.
///
/// Janus passes over addresses of loopback, so everything runs in a network namespace with one more address, which takes
/// an administrator. `janus_sip.py` drives it and reads what it costs.
struct JanusAnchor {
  /// Calls of one measurement.
  static let calls = 30
  private static let address = "10.255.255.1"
  /// Interpreters with aiortc and websockets, the first that exists.
  private static var interpreters: [String] {
    let named = ProcessInfo.processInfo.environment["LANDLINE_PEERS"].map { "\($0)/bin/python" }
    return [named, ".build-peers/bin/python", "python3"].compactMap { $0 }
  }

  /// Why there is nothing to compare with; `nil` when there is.
  let absence: String?
  private let options: CallsBench.Options
  private let python: String

  init(_ options: CallsBench.Options) {
    self.options = options
    let python = Self.interpreters.first { PeerProgram.exists($0) && Self.canDrive($0) }
    self.python = python ?? ""
    let missing =
      !PeerProgram.exists("janus")
      ? "janus is not installed (apt-get install janus)"
      : geteuid() != 0
        ? "janus needs a network namespace, which takes an administrator"
        : !FileManager.default.fileExists(atPath: "\(options.perfTools)/janus_sip.py")
          ? "there is no \(options.perfTools)/janus_sip.py (--perf-tools)"
          : python == nil ? "no Python here has aiortc, numpy and websockets (LANDLINE_PEERS)" : nil
    absence = missing.map { "B3d has no anchor: \($0)" }
  }

  private static func canDrive(_ python: String) -> Bool {
    (try? PeerProgram(python, ["-c", "import aiortc, numpy, websockets"]).wait()) == 0
  }

  /// Places calls one after the other.
  /// - Returns: microseconds of Janus' processor time for each: attaching, registering, the call, ICE and DTLS.
  func measure(in folder: String) throws -> Double {
    let place = "\(folder)/janus"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    try JanusSettings.general(plugin: "sip", transport: "websockets")
      .write(toFile: "\(place)/janus.jcfg", atomically: true, encoding: .utf8)
    try Self.web.write(toFile: "\(place)/janus.transport.websockets.jcfg", atomically: true, encoding: .utf8)
    try Self.signalling.write(toFile: "\(place)/janus.plugin.sip.jcfg", atomically: true, encoding: .utf8)
    try Scenarios.callee.write(toFile: "\(place)/callee.xml", atomically: true, encoding: .utf8)
    // The driver reads speech even where it sends none.
    try Data(count: 192_000).write(to: URL(fileURLWithPath: "\(place)/speech.raw"))
    let driver = URL(fileURLWithPath: options.perfTools).appendingPathComponent("janus_sip.py").path
    let script = Self.script(place, python: python, driver: driver, sipp: options.sipp)
    try script.write(toFile: "\(place)/run.sh", atomically: true, encoding: .utf8)
    // With the namespace all of its processes end.
    let run = try PeerProgram("unshare", ["--net", "--pid", "--fork", "--mount-proc", "sh", "\(place)/run.sh"])
    run.wait()
    let said = (try? String(contentsOfFile: "\(place)/result", encoding: .utf8)) ?? ""
    guard let cost = PrintedFigures(text: said).find("Janus CPU ") else {
      throw BenchProblem("janus took no \(Self.calls) calls: \(said.suffix(300))")
    }
    return cost * 1000
  }

  private static func script(_ place: String, python: String, driver: String, sipp: String) -> String {
    """
    ip link set lo up
    ip link add bench0 type veth peer name bench1
    ip addr add \(address)/24 dev bench0
    ip link set bench0 up
    ip link set bench1 up
    \(sipp) -sf '\(place)/callee.xml' -i 127.0.0.1 -p 5080 -nostdin > /dev/null 2>&1 &
    janus -F '\(place)' -i \(address) > '\(place)/janus.log' 2>&1 &
    janus=$!
    sleep 2
    UPFILE='\(place)/up' SPEECH='\(place)/speech.raw' timeout 120 '\(python)' '\(driver)' \(calls) 1 $janus nomedia \
    > '\(place)/result' 2>&1
    kill $janus

    """
  }

  private static let web = """
    general: {
      ws = true
      ws_port = 8188
      wss = false
    }

    """
  private static let signalling = """
    general: {
      rtp_port_range = "20000-40000"
    }

    """
}
