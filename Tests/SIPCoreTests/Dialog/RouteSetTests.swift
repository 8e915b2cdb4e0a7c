import CallModel
import SIPCore
import Testing

/// RFC 3261 section 12.2.1.1 with loose and strict routers.
@Suite struct RouteSetTests {
  @Test func `a caller turns Record-Route round, a callee keeps it`() throws {
    let recorded = try NameAddress.list(parsing: "<sip:p3.example;lr>, <sip:p2.example;lr>, <sip:p1.example;lr>")
    #expect(RouteSet.ofCallee(recorded) == recorded)
    #expect(RouteSet.ofCaller(recorded) == recorded.reversed())
    #expect(RouteSet.ofCaller(Array(repeating: recorded[0], count: 500)).count == RouteSet.maximumRoutes)
  }

  /// Target and routes, then Request-URI, Route and next hop.
  @Test(arguments: [
    ("sip:bob@b.example", "", "sip:bob@b.example", "", "sip:bob@b.example"),
    (
      "sip:bob@b.example", "<sip:p1.example;lr>, <sip:p2.example>", "sip:bob@b.example",
      "<sip:p1.example;lr>, <sip:p2.example>", "sip:p1.example;lr"
    ),
    (
      "sip:bob@b.example", "<sip:p1.example;transport=tcp>, <sip:p2.example;lr>", "sip:p1.example;transport=tcp",
      "<sip:p2.example;lr>, <sip:bob@b.example>", "sip:p1.example;transport=tcp"
    ),
  ])
  func `where a request goes`(_ target: String, _ routes: String, _ uri: String, _ route: String, _ hop: String) throws
  {
    let destination = RouteSet.destination(
      target: try SIPURI(parsing: target), routes: routes.isEmpty ? [] : try NameAddress.list(parsing: routes))
    #expect(try destination.uri.encoded() == uri)
    #expect(try destination.routes.map { try $0.encoded() }.joined(separator: ", ") == route)
    #expect(try destination.nextHop.encoded() == hop)
  }
}
