import AppProtocol
import CallModel
import Testing

@Suite("Messages come back as they were")
struct RoundTripTests {
  @Test("what an app sends") func fromApp() throws {
    for message in try Samples.clientMessages() {
      let bytes = AppMessageCoder.encode(message)
      #expect(try AppMessageCoder.decodeRequest(bytes) == message, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test("what the gateway sends") func fromGateway() throws {
    for message in try Samples.serverMessages() {
      let bytes = AppMessageCoder.encode(message)
      #expect(try AppMessageCoder.decodeServer(bytes) == message, "\(String(decoding: bytes, as: UTF8.self))")
    }
  }

  @Test("members and types of a newer peer are passed over") func newer() throws {
    let call = #"{"type":"hangup","id":4,"call":"c-1","why":{"deep":[1,2,{"x":null}]},"type2":0}"#
    #expect(
      try AppMessageCoder.decodeRequest(Array(call.utf8)) == .request(RequestNumber(4), .hangUp(try Samples.call())))
    #expect(try AppMessageCoder.decodeServer(Array(#"{"type":"hologram","call":5}"#.utf8)) == nil)
    #expect(
      try AppMessageCoder.decodeServer(
        Array(#"{"type":"warning","seq":1,"call":"c-1","warning":"new","raised":true}"#.utf8)) == nil)
    let failure = #"{"type":"error","id":1,"error":{"code":"gw.brandNew","message":"?"}}"#
    #expect(
      try AppMessageCoder.decodeServer(Array(failure.utf8)) == .error(RequestNumber(1), CallFailure(.internal)))
    let capability =
      #"{"type":"register","id":1,"application":"a","user":"u","device":"d","capabilities":["calling","smell"],"proof":{"kind":"token","token":"t"}}"#
    guard case .register(_, let registration, _) = try AppMessageCoder.decodeRequest(Array(capability.utf8)) else {
      Issue.record("not a registration")
      return
    }
    #expect(registration.capabilities == [.calling])
  }

  @Test("money is there exact and in decimals, times in RFC 3339") func forms() throws {
    let ended = AppMessageCoder.encode(
      .event(.ended(try Samples.call(), try Samples.summary()), sequence: 5))
    let text = String(decoding: ended, as: UTF8.self)
    #expect(text.contains(#""cost":"0.015467","cost_micro":15467,"currency":"EUR""#))
    #expect(text.contains(#""answered_at":"2026-11-18T11:06:43.000Z""#), "\(text)")
  }

  @Test("figures that JSON has no number for become 0") func notANumber() throws {
    for value in [Double.nan, .infinity, -.infinity] {
      let bytes = AppMessageCoder.encode(
        .request(RequestNumber(1), .report(try Samples.call(), ClientStatistics(figures: ["x": value]))))
      #expect(
        try AppMessageCoder.decodeRequest(bytes)
          == .request(RequestNumber(1), .report(try Samples.call(), ClientStatistics(figures: ["x": 0]))))
    }
  }
}
