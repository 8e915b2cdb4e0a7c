import CallStory
import LandlineWire
import Testing

@Suite("Problems on the way to a peer, as a trace keeps them") struct PathProblemTests {
  @Test("a story knows every problem that explains a call by the name that the transports give it")
  func names() {
    let explaining = TransportProblem.Kind.allCases.map(\.rawValue).filter {
      $0.hasPrefix("tls.") || $0.hasPrefix("transport.connect") && $0 != TransportProblem.Kind.connectionLost.rawValue
        || $0 == TransportProblem.Kind.unreachable.rawValue
    }
    #expect(Set(explaining) == Set(CallTrace.PathProblem.allCases.map(\.rawValue)))
    for problem in CallTrace.PathProblem.allCases {
      #expect(problem.isTLS == problem.rawValue.hasPrefix("tls."))
      let text = "\(problem.rawValue): tls 192.0.2.1:5061: closed"
      #expect(CallTrace.Note(at: 0, kind: .story, text: text).pathProblem == problem)
      #expect(CallTrace.Note(at: 0, kind: .mediaFailed, text: text).pathProblem == nil)
    }
    #expect(CallTrace.Note(at: 0, kind: .story, text: "the trunk said tls.notTLS: no").pathProblem == nil)
  }
}
