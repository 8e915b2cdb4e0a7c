import CallModel
import Foundation
import PeerKit

/// Calls that a SIPp answers: sound, headers and money both ways.
enum AnsweredCases {
  static let cases: [PeerCase] =
    [SIPpPeer.Transport.udp, .tcp].map { transport in
      GatewayCase.withSIPp(
        "answered, the app hangs up", "gateway-answers",
        expected: "sound and headers both ways, duration and cost exact", transport: transport, echoes: true
      ) { app, sipp in
        try await GatewayCase.timed {
          let call = try await app.established(
            GatewayRate.number, ["headers": ["x-order": "4711", "x-note": "two words"]])
          let invite = sipp.message("INVITE", wasReceived: true)?.message
          try require(
            invite?["x-order"] == "4711" && invite?["x-note"] == "two words", "the app's headers in the INVITE")
          try require(
            invite?.requestURI?.hasPrefix("sip:\(GatewayRate.number)@127.0.0.1") == true, "the number is dialled")
          try require(invite?["From"]?.contains(GatewayRate.caller) == true, "the caller's number is shown")
          let ringing = try await app.told("ringing")
          try require(ringing.text("headers.X-Ringing") == "one eighty", "the header of the 180: \(ringing)")
          let accepted = app.peer.events.first { $0.name == "got-accepted" }
          try require(
            accepted?.text("headers.X-Answer") == "two hundred",
            "the header of the 200: \(String(describing: accepted))")
          let price = try await app.told("price")
          try require(
            price.number("rate_per_minute_nano") == 600_000_000 && price.number("connection_fee_micro") == 50_000,
            "the price is told: \(price)")
          let sound = try await GatewayCase.echoHeard(app)
          try app.hangUp()
          let end = try await app.ended()
          try require(end.text("cause") == "hungUp" && end.text("failure.code") == nil, "hung up: \(end)")
          let money = try await app.charged(end, call)
          let off = try measured(end, sipp, byeReceived: true)
          return (value: "\(sound); \(money); \(off) ms apart from SIPp's clock", figure: apart(off))
        }
      }
    } + [
      GatewayCase.withSIPp(
        "answered, the trunk hangs up", "gateway-hangs-up", expected: "headers of the BYE, duration and cost exact",
        keys: ["linger": "2300"]
      ) { app, sipp in
        try await GatewayCase.timed {
          let call = try await app.established()
          let end = try await app.ended()
          try require(end.text("cause") == "hungUp" && end.text("failure.code") == nil, "hung up: \(end)")
          try require(end.text("headers.X-Bye") == "from the peer", "the header of the BYE: \(end)")
          let money = try await app.charged(end, call)
          let off = try measured(end, sipp, byeReceived: false)
          return (value: "\(money); \(off) ms apart from SIPp's clock", figure: apart(off))
        }
      },
      GatewayCase.withSIPp(
        "answered and hung up at once", "gateway-hangs-up", expected: "one second billed at most", keys: ["linger": "0"]
      ) { app, _ in
        let call = try await app.placed()
        let end = try await app.ended()
        try require(end.text("cause") == "hungUp", "hung up: \(end)")
        return try await app.charged(end, call)
      },
      GatewayCase.withSIPp(
        "a call to a SIP address of the trunk", "gateway-answers", expected: "reaches the user, free of charge"
      ) { app, sipp in
        let call = try await app.established("bob@127.0.0.1", ["kind": "sip"])
        let invite = sipp.message("INVITE", wasReceived: true)?.message
        try require(invite?.requestURI?.hasPrefix("sip:bob@127.0.0.1") == true, "bob: \(invite?.requestURI ?? "")")
        try app.hangUp()
        let end = try await app.ended()
        try require(end.number("cost_micro") == 0, "free: \(end)")
        try await app.uncharged(call)
        return "bob, free"
      },
    ]

  /// Milliseconds between what the app is told and what SIPp's own clock says from its 200 to the BYE.
  private static func measured(_ end: PythonEvent, _ sipp: SIPpPeer, byeReceived: Bool) throws -> Int {
    guard let answer = sipp.message("SIP/2.0 200", wasReceived: false),
      let bye = sipp.message("BYE", wasReceived: byeReceived), let duration = end.number("duration_ms")
    else { throw PeerFailure("200 and BYE in SIPp's trace") }
    return Int(((bye.at - answer.at) * 1_000 - duration).rounded())
  }

  private static func apart(_ milliseconds: Int) -> Heard.Figure {
    .init("ms apart from SIPp's clock", Double(milliseconds), -300...300)
  }
}
