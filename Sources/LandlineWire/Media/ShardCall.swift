import MediaCore
import SecureTransport

/// An address with the leg that proved it.
struct ProvedAddress: Hashable {
  let address: MediaAddress
  let leg: LegNumber
}

/// What a call holds, apart from its bridge.
struct ShardCall {
  let identifier: MediaBridge.Identifier
  var ports: [TrunkPorts] = []
  var userFragments: [String] = []
  /// Proved, whether the table has them for this call or for one that was first.
  var addresses: [ProvedAddress] = []
  var isClosing = false
}

/// An app port with its socket.
struct AppSocket {
  let descriptor: Int32
  let isIPv4: Bool
  let port: AppPort
  let grantedBytes: Int32
}
