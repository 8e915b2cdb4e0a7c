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
  let account: Int
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

  init(_ index: Int, account: Int, pingMilliseconds: Int64, draw: @escaping () -> UInt64) {
    self.index = index
    user = "user\(index)"
    self.account = account
    var configuration = AppSessionClient.Configuration(client: "simulated/1")
    configuration.pingMilliseconds = pingMilliseconds
    client = AppSessionClient(configuration, draw: draw)
  }

  func isOnline(at now: MonotonicInstant) -> Bool { !isGone && offlineUntil <= now }

  /// What a browser offers.
  func offer(_ direction: String = "sendrecv") -> String {
    version += 1
    return "v=0\r\no=- 47\(index) \(version) IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n"
      + "m=audio 9 UDP/TLS/RTP/SAVPF 111 0 8 101\r\nc=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=mid:0\r\n"
      + "a=ice-ufrag:appu\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=fingerprint:sha-256 \(SimulatedApp.fingerprint)\r\n"
      + "a=setup:actpass\r\na=\(direction)\r\na=rtpmap:111 opus/48000/2\r\na=rtpmap:0 PCMU/8000\r\n"
      + "a=rtpmap:8 PCMA/8000\r\na=rtpmap:101 telephone-event/8000\r\n"
  }

  private static let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")
}
