import CallModel
import Foundation
import SIPCore
import TestVectors
import Testing

/// Single values against the tables of others.
@Suite(.enabled(if: TestVectors.arePresent, Comment(rawValue: TestVectors.absence)))
struct ValueVectorTests {
  /// Rejected by the table and taken here, with the reason.
  static let tolerated: [String: String] = [
    "example.c_m": "underscores are common in the names of containers",
    ",": callID, "a,b": callID, "a@@b": callID,
    "sip:a@b;my_param=&": "bytes beyond tokens are common in parameters of From and To",
  ]
  private static let callID = "Call-IDs are compared byte by byte and go back as they came"

  /// `nil` for kinds that others read.
  static func accepts(_ kind: String, _ value: String) -> Bool? {
    func reads(_ body: () throws -> Void) -> Bool { (try? body()) != nil }
    return switch kind {
    case "uri": reads { _ = try SIPURI(parsing: value) }
    case "name-addr", "From/To": reads { _ = try NameAddress(parsing: value) }
    case "Route": reads { _ = try NameAddress.list(parsing: value) }
    case "Via": reads { _ = try Via(parsing: value) }
    case "host": reads { _ = try SIPURI(parsing: "sip:" + value) }
    case "RAck": reads { _ = try RAck(parsing: value) }
    case "RSeq": reads { _ = try RSeq(parsing: value) }
    case "Supported": reads { _ = try TokenList(parsing: value) }
    case "Retry-After": reads { _ = try RetryAfter(parsing: value) }
    case "Contact", "CSeq", "Max-Forwards", "Call-ID":
      MessageVectorTests.verdict(
        kind == "Contact" || kind == "CSeq" || kind == "Call-ID" || kind == "Max-Forwards"
          ? GateFixtures.replacing(kind, with: "\(kind): \(value)") : GateFixtures.adding("\(kind): \(value)")
      ).message != nil
    default: nil
    }
  }

  @Test func values() throws {
    var wrong: [String] = []
    var counts: [String: Int] = [:]
    for row in try TestVectors.table("sip-grammar/values.tsv") {
      let kind = row["kind"] ?? ""
      let value = (row["value"] ?? "").replacingOccurrences(of: "\\t", with: "\t")
      guard let isAccepted = ValueVectorTests.accepts(kind, value) else { continue }
      counts[kind, default: 0] += 1
      let verdict = row["verdict"] ?? ""
      guard verdict != "either", isAccepted != (verdict == "accept") else { continue }
      print("values: \(kind) \(value): \(isAccepted ? "accepted" : "refused"), the table says \(verdict)")
      if ValueVectorTests.tolerated[value] == nil { wrong.append("\(kind) \(value): expected \(verdict)") }
    }
    print("values:", counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    #expect(counts.values.reduce(0, +) > 100)
    #expect(wrong.isEmpty, Comment(rawValue: wrong.joined(separator: "\n")))
  }

  @Test func partsOfURIs() throws {
    var count = 0
    for row in try TestVectors.table("sip-grammar/uri-fields.tsv") {
      let text = row["uri"] ?? ""
      let uri = try SIPURI(parsing: text)
      func written(_ parameters: [SIPParameter], _ separator: String) -> String {
        parameters.map { $0.name + ($0.value.map { "=\($0)" } ?? "") }.joined(separator: separator).lowercased()
      }
      #expect(uri.scheme.rawValue == row["scheme"], "\(text)")
      #expect((uri.user ?? "") == row["user_raw"], "\(text)")
      #expect(uri.host == (try SIPURI(parsing: "sip:" + (row["host_lower"] ?? ""))).host, "\(text)")
      #expect((uri.port.map { String($0) } ?? "") == row["port"], "\(text)")
      #expect(written(uri.parameters, ";") == row["uri_params_raw"]?.lowercased(), "\(text)")
      #expect(written(uri.headers, "&") == row["headers_raw"]?.lowercased(), "\(text)")
      count += 1
    }
    #expect(count > 50)
  }

  @Test func equivalence() throws {
    for row in try TestVectors.table("sip-grammar/uri-equality.tsv") {
      let left = try SIPURI(parsing: row["a"] ?? "")
      let right = try SIPURI(parsing: row["b"] ?? "")
      let isEqual = (row["verdict"] ?? "").hasPrefix("equal")
      #expect(left.isEquivalent(to: right) == isEqual, "\(row)")
      #expect(right.isEquivalent(to: left) == isEqual, "\(row)")
    }
  }

  @Test func responseRouting() throws {
    let listener = ListenerID(1)
    var count = 0
    for row in try TestVectors.table("sip-rules/via-response-routing.tsv") {
      let name = row["case"] ?? ""
      let text = row["top_via"] ?? ""
      guard let via = try? Via(parsing: text) else {
        // Port 0: 400 is one of the two verdicts.
        #expect(name == "v10")
        continue
      }
      count += 1
      let isStream = via.transport == "TCP"
      let source = try SIPURI(
        parsing: "sip:" + (isStream ? "192.0.2.1:40000" : (row["packet_source"] ?? "").prefix { $0 != " " }))
      let host = try #require(source.host)
      let path = SIPPath(
        listener: listener, remote: TransportAddress(isStream ? .tcp : .udp, host, port: try #require(source.port)),
        connection: isStream ? ConnectionID(7) : nil)
      let route = ResponseRoute.path(for: via, receivedFrom: path)
      let destination = "\(route.remote.host):\(route.remote.port)"
      let expected: String
      switch name {
      case "v06": expected = "192.0.2.1:5060"
      case "v07": expected = "192.0.2.1:5070"
      default: expected = String((row["response_goes_to"] ?? "").prefix { $0 != " " })
      }
      #expect(destination == expected, "\(name)")
      #expect(route.connection == path.connection && route.listener == listener, "\(name)")
      let stamped = via.received(from: path.remote)
      if let parameters = (row["response_goes_to"] ?? "").components(separatedBy: " with ").dropFirst().first {
        for parameter in parameters.split(separator: ";") {
          let parts = parameter.split(separator: "=").map(String.init)
          #expect(stamped.parameters[parts[0]]?.value == parts[1], "\(name)")
        }
      }
    }
    #expect(count == 9)
  }
}
