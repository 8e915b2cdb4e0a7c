import CallEngine
import CallModel
import Foundation
import PeerKit

/// Calls that trunks refuse, each in its own way.
enum FailureCases {
  /// - Parameter cause: of Q.850, as the app is told.
  private static func rejected(
    _ status: Int, _ phrase: String, _ code: String, cause: Int, end: String, headers: String = "X-Why: because"
  ) -> PeerCase {
    GatewayCase.withSIPp(
      "\(status) \(phrase)", "answer-rejects", expected: "\(code), \(status), Q.850 \(cause), free",
      keys: ["status": String(status), "phrase": phrase, "extra": headers]
    ) { app, _ in
      let call = try await app.placed()
      let ended = try await app.ended()
      try require(ended.text("cause") == end, "it ends as \(end): \(ended)")
      try failed(ended, code: code, status: status, phrase: phrase, cause: cause)
      if headers.hasPrefix("X-Why") {
        try require(ended.text("headers.X-Why") == "because", "the header of the response: \(ended)")
      }
      try require(ended.count("failure.attempts") == 1, "one attempt: \(ended)")
      try require(ended.number("failure.attempts.0.sip_status") == Double(status), "its status: \(ended)")
      try require(ended.number("cost_micro") == 0, "free: \(ended)")
      try await app.uncharged(call)
      return "\(code), \(status), \(cause)"
    }
  }

  static let statuses: [PeerCase] = [
    rejected(404, "Not Found", "sip.unallocated", cause: 1, end: "error"),
    rejected(408, "Request Timeout", "sip.unreachable", cause: 102, end: "noAnswer"),
    rejected(480, "Temporarily Unavailable", "sip.unreachable", cause: 18, end: "noAnswer"),
    rejected(486, "Busy Here", "sip.busy", cause: 17, end: "denied"),
    rejected(
      486, "Not now", "sip.busy", cause: 34, end: "denied",
      headers: "Reason: Q.850;cause=34;text=\"No circuit available\""),
    rejected(488, "Not Acceptable Here", "sip.media", cause: 88, end: "error"),
    rejected(503, "Service Unavailable", "sip.congestion", cause: 41, end: "error"),
    rejected(600, "Busy Everywhere", "sip.busy", cause: 17, end: "denied"),
    rejected(603, "Decline", "sip.declined", cause: 21, end: "denied"),
  ]

  static func failed(
    _ ended: PythonEvent, code: String, status: Int? = nil, phrase: String? = nil, cause: Int? = nil
  ) throws {
    try require(ended.text("failure.code") == code, "\(code): \(ended)")
    let domain = code.hasPrefix("gw.") ? "gateway" : String(code.prefix { $0 != "." })
    try require(ended.text("failure.domain") == domain, "domain \(domain): \(ended)")
    try require(ended.text("failure.message") != nil && ended.text("failure.retry") != nil, "words: \(ended)")
    if let status { try require(ended.number("failure.sip_status") == Double(status), "status \(status): \(ended)") }
    if let phrase { try require(ended.text("failure.phrase") == phrase, "phrase \(phrase): \(ended)") }
    if let cause { try require(ended.number("failure.cause") == Double(cause), "Q.850 \(cause): \(ended)") }
  }

  static let cases: [PeerCase] =
    statuses + [
      GatewayCase.make(
        "SIPp", "UDP", "503, then the second trunk", expected: "answered by the second, two attempts on record"
      ) {
        var options = SIPpPeer.Options()
        options.keys = ["status": "503", "phrase": "Service Unavailable", "extra": "Retry-After: 1"]
        let first = try await SIPpPeer(SIPpCase.scenario("answer-rejects"), as: .server, options)
        let second = try await SIPpPeer(SIPpCase.scenario("gateway-answers"), as: .server)
        let settings = GatewaySettings([.init(port: first.port), .init("second", port: second.port)])
        return try await GatewayRunning.run(settings) { gateway in
          let app = try await AppPeer(gateway)
          return try await GatewayCase.reported(app) {
            let call = try await app.established()
            try app.hangUp()
            let money = try await app.charged(try await app.ended(), call)
            try await first.succeeds()
            try await second.succeeds()
            let attempts = try await gateway.record(call).attempts
            try require(attempts.map(\.trunk) == ["first", "second"], "two attempts: \(attempts)")
            try require(attempts.first?.sipStatus == 503, "503 first: \(attempts)")
            return "two attempts; \(money)"
          }
        }
      },
      GatewayCase.make("SIPp", "UDP", "503 of both trunks", expected: "sip.congestion with both attempts") {
        var options = SIPpPeer.Options()
        options.keys = ["status": "503", "phrase": "Service Unavailable", "extra": "X-Why: full"]
        let first = try await SIPpPeer(SIPpCase.scenario("answer-rejects"), as: .server, options)
        let second = try await SIPpPeer(SIPpCase.scenario("answer-rejects"), as: .server, options)
        let settings = GatewaySettings([.init(port: first.port), .init("second", port: second.port)])
        return try await GatewayRunning.run(settings) { gateway in
          let app = try await AppPeer(gateway)
          return try await GatewayCase.reported(app) {
            let call = try await app.placed()
            let ended = try await app.ended()
            try failed(ended, code: "sip.congestion", status: 503)
            try require(ended.count("failure.attempts") == 2, "two attempts: \(ended)")
            try require(ended.text("failure.attempts.1.trunk") == "second", "the second one: \(ended)")
            try await app.uncharged(call)
            return "sip.congestion, 2 attempts"
          }
        }
      },
      GatewayCase.withSIPp(
        "rings and is never answered", "gateway-unanswered", expected: "sip.noAnswer after 5 s, CANCEL",
        trunk: ["ring-timeout: 5s"]
      ) { app, _ in
        let call = try await app.placed()
        let ended = try await app.ended(within: 12)
        try require(ended.text("cause") == "noAnswer", "no answer: \(ended)")
        try failed(ended, code: "sip.noAnswer")
        try await app.uncharged(call)
        return "sip.noAnswer"
      },
      unreachable(
        "TCP", "nobody listens", code: "sip.transport", transport: "tcp",
        port: { try FreePort.next() }),
      GatewayCase.make("baresip", "TLS", "a certificate of a stranger", expected: "sip.transport, no INVITE") {
        let certificates = try await CertificateFolder.shared()
        let stranger = try await CertificateAuthority("Stranger")
        let baresip = try await BaresipPeer(transport: .tls, answerMode: .auto, certificates: certificates)
        let trunk = GatewaySettings.Trunk(
          port: baresip.tlsPort, transport: "tls", ["tls:", "  authorities: [\(stranger.certificate.path)]"])
        var settings = GatewaySettings([trunk])
        settings.certificates = certificates
        return try await GatewayRunning.run(settings) { gateway in
          let app = try await AppPeer(gateway)
          return try await GatewayCase.reported(app) {
            let call = try await app.placed()
            let ended = try await app.ended()
            try failed(ended, code: "sip.transport")
            try require(ended.count("failure.attempts") == 1, "one attempt: \(ended)")
            try require(baresip.events("CALL_INCOMING").isEmpty, "no call arrives")
            try await app.uncharged(call)
            return "sip.transport"
          }
        }
      },
    ]

  private static func unreachable(
    _ name: String, _ what: String, code: String, transport: String,
    port: @escaping @Sendable () throws -> UInt16
  ) -> PeerCase {
    GatewayCase.make("none", name, what, expected: code) {
      let settings = GatewaySettings([.init(port: try port(), transport: transport)])
      return try await GatewayRunning.run(settings) { gateway in
        let app = try await AppPeer(gateway)
        return try await GatewayCase.reported(app) {
          let call = try await app.placed()
          let ended = try await app.ended()
          try require(ended.text("cause") == "error", "an error: \(ended)")
          try failed(ended, code: code)
          try require(ended.count("failure.attempts") == 1, "one attempt: \(ended)")
          try await app.uncharged(call)
          return code
        }
      }
    }
  }
}
