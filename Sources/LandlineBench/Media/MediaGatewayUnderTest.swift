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

  /// Where the probe finds the keys that the gateway protects with; `nil` where it does not.
  var sendingKeys: (app: String?, trunk: String?) { get }

  /// Ends every call.
  func tearDown() throws(BenchProblem)
}
