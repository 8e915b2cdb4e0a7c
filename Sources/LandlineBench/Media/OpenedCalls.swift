/// What our gateway's process answers when calls are up.
struct OpenedCalls: Codable {
  /// Of each call that towards the app, then that towards the trunk.
  var ports: [UInt16]
  /// What it protects with; absent without SRTP.
  var appKey: String?
  var trunkKey: String?
}
