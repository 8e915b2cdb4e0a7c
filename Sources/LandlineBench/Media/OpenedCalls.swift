/// What our gateway's process answers when calls are up.
struct OpenedCalls: Codable {
  /// Of each call that towards the app, then that towards the trunk.
  var ports: [UInt16]
  /// What it protects with; absent without SRTP.
  var appKey: String?
  var trunkKey: String?
}

/// What a gateway makes of the offer of an app that shakes hands.
struct AnsweredCall: Codable {
  var answer: String
  /// Where the trunk sends.
  var trunkPort: UInt16
}
