import AppProtocol
import CallModel

/// One connection between an app and the node: two streams in order.
final class SimulatedLink {
  let app: Int
  let clientID: ConnectionID
  let nodeID: ConnectionID
  let life: Int
  /// Nothing arrives any more, and nobody was told.
  var isBroken = false
  var isOpen = false
  /// When the newest frame of each direction arrives: the next cannot overtake it.
  var arrivals: [MonotonicInstant] = [.zero, .zero]
  var waitsUntil: [MonotonicInstant] = [.zero, .zero]

  init(app: Int, clientID: ConnectionID, nodeID: ConnectionID, life: Int) {
    self.app = app
    self.clientID = clientID
    self.nodeID = nodeID
    self.life = life
  }
}

/// What travels on a link.
enum SimulatedFrame {
  case text([UInt8])
  case ping
  case pong
  case close(UInt16?)
}

/// An app: the real client's end of a session, and a person who calls.
final class SimulatedApp {
  let index: Int
  let user: String
  let device: String
  let account: Int
  /// Built before apps could be called: it names no such feature.
  let isOld: Bool
  let client: AppSessionClient
  var link: SimulatedLink?
  /// Away from every network until then.
  var offlineUntil: MonotonicInstant = .zero
  var isGone = false
  /// Which call of the plan a request or a call is.
  var requests: [RequestNumber: Int] = [:]
  var calls: [Int: CallID] = [:]
  var wantsHangUp: Set<Int> = []
  var version = 1
  /// Replies and ends that it was told, by call.
  var ended: [CallID: Int] = [:]
  var replies: [RequestNumber: Int] = [:]
  /// Calls for its user that it was told of.
  var rings: [CallID: Ring] = [:]
  /// How often it was told of each: once more for each session that it lost meanwhile.
  var ringsTold: [CallID: Int] = [:]
  /// What it said about them, with the call that it accepted.
  var words: [RequestNumber: (call: CallID, isAccept: Bool)] = [:]
  /// Calls that it accepted without hearing in time whether it has them: the gateway may have taken its word.
  var doubtful: Set<CallID> = []
  /// Whether it wants to be called.
  var isListening = true
  /// Since when it has been connected, listening and in no call without interruption; `nil` while it is not.
  var callableSince: MonotonicInstant?

  /// A call for its user, as this device saw it.
  struct Ring {
    /// Of the plan.
    let number: Int
    let told: MonotonicInstant
    var hasOffered = false
    var hasJoined = false
    var end: CallSummary?
  }

  static func userName(_ user: Int) -> String { "user\(user)" }
  private static let deviceNames = ["phone", "tablet", "desk"]

  init(
    _ index: Int, owner: (user: Int, device: Int), account: Int, isOld: Bool, pingMilliseconds: Int64,
    draw: @escaping () -> UInt64
  ) {
    self.index = index
    user = SimulatedApp.userName(owner.user)
    device = SimulatedApp.deviceNames[owner.device % SimulatedApp.deviceNames.count]
    self.account = account
    self.isOld = isOld
    var configuration = AppSessionClient.Configuration(client: "simulated/1")
    configuration.pingMilliseconds = pingMilliseconds
    client = AppSessionClient(configuration, draw: draw)
  }

  var profile: DeviceProfile {
    isOld
      ? DeviceProfile() : DeviceProfile(features: [.incoming, .rooms], isListening: true, name: "\(user) on \(device)")
  }

  func isOnline(at now: MonotonicInstant) -> Bool { !isGone && offlineUntil <= now }

  /// What a browser offers.
  func offer(_ direction: String = "sendrecv") -> String {
    version += 1
    return "v=0\r\no=- 47\(index) \(version) IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
      + "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 101\r\nc=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=mid:0\r\n"
      + "a=ice-ufrag:\(SimulatedApp.fragment(index))\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=fingerprint:sha-256 \(SimulatedApp.fingerprint)\r\n"
      + "a=setup:actpass\r\na=\(direction)\r\na=rtpmap:111 opus/48000/2\r\na=rtpmap:0 PCMU/8000\r\n"
      + "a=rtpmap:8 PCMA/8000\r\na=rtpmap:101 telephone-event/8000\r\n"
  }

  /// Names the app in what it offers, so that the sound of a leg is that of its app.
  private static func fragment(_ index: Int) -> String { "app+\(index)" }
  static func index(ofFragment fragment: String) -> Int? { Int(fragment.dropFirst(4)) }

  private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")
}
