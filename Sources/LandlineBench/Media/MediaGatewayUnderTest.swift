/// Ports of one call: where each side of the generator sends.
struct CallPorts: Hashable, Sendable {
  let app: UInt16
  let trunk: UInt16
}

/// A gateway that the benchmark places calls in: ours or an anchor.
protocol MediaGatewayUnderTest: AnyObject {
  /// For the processor's time and the memory.
  var processIdentifier: Int32 { get }

  /// Brings up calls between two ports of 127.0.0.1.
  func setUp(_ workload: MediaWorkload, calls: Int, app: UInt16, trunk: UInt16) throws(BenchProblem) -> [CallPorts]

  /// Brings up a call of Opus from an app that shakes hands, by its offer, to a port of 127.0.0.1, where it is plain RTP.
  /// - Returns: The answer to the app, and the gateway's port towards the trunk.
  func call(_ offer: String, trunk: UInt16) throws(BenchProblem) -> AnsweredCall

  /// Where the probe finds the keys that the gateway protects with; `nil` where it does not.
  var sendingKeys: (app: String?, trunk: String?) { get }

  /// Ends every call.
  func tearDown() throws(BenchProblem)
}
