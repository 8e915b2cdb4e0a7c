import AppProtocol
import CallModel
import Testing

@Suite("Messages that are refused")
struct BadMessageTests {
  /// What an app is told of a message.
  private func problem(_ text: String) -> String {
    do {
      let message = try AppMessageCoder.decodeRequest(Array(text.utf8))
      return "taken: \(message)"
    } catch {
      guard let invalid = error.failure.invalidValue else { return "no problem named" }
      let close = error.closeCode.map { " [\($0.rawValue)]" } ?? ""
      let number = error.number.map { "#\($0.value) " } ?? ""
      return "\(number)\(invalid.kind): \(invalid.problem) (\(invalid.rule))\(close)"
    }
  }

  @Test(
    "each part that is wrong is named with its path",
    arguments: [
      (#"{}"#, "message.type: is missing (message.missing)"),
      (#"{"type":7}"#, "message.type: expected a string, found a number (message.type)"),
      (#"{"type":null,"id":1}"#, "#1 message.type: is missing (message.missing)"),
      (#"{"type":"cal","id":1}"#, "#1 message.type: 'cal' is not known; did you mean 'call'? (message.unknown)"),
      (
        #"{"type":"regster","id":1}"#,
        "#1 message.type: 'regster' is not known; did you mean 'register'? (message.unknown)"
      ),
      (#"{"type":"xyzzy","id":1}"#, "#1 message.type: 'xyzzy' is not known (message.unknown)"),
      (
        #"{"type":"registered","id":1}"#,
        "#1 message.type: 'registered' is not known; did you mean 'register'? (message.unknown)"
      ),
      (#"{"type":"ping"}"#, "ping.id: is missing (message.missing)"),
      (#"{"type":"ping","id":0}"#, "ping.id: is out of range (message.range)"),
      (#"{"type":"ping","id":-1}"#, "ping.id: is out of range (message.range)"),
      (#"{"type":"ping","id":9007199254740992}"#, "ping.id: is out of range (message.range)"),
      (#"{"type":"ping","id":1.5}"#, "ping.id: expected a whole number, found a number (message.type)"),
      (#"{"type":"ping","id":"1"}"#, "ping.id: expected a whole number, found a string (message.type)"),
      (#"{"type":"call","id":2}"#, "#2 call.to: is missing (message.missing)"),
      (#"{"type":"call","id":2,"to":"+46"}"#, "#2 call.to: expected an object, found a string (message.type)"),
      (#"{"type":"call","id":2,"to":{}}"#, "#2 call.to.kind: is missing (message.missing)"),
      (
        #"{"type":"call","id":2,"to":{"kind":"phon"}}"#,
        "#2 call.to.kind: 'phon' is not known; did you mean 'phone'? (message.unknown)"
      ),
      (
        #"{"type":"call","id":2,"to":{"kind":"phone","number":46}}"#,
        "#2 call.to.number: expected a string, found a number (message.type)"
      ),
      (
        #"{"type":"call","id":2,"to":{"kind":"phone","address":"+46"}}"#,
        "#2 call.to.number: is missing (message.missing)"
      ),
      (#"{"type":"call","id":2,"to":{"kind":"phone","number":"+46"}}"#, "#2 call.offer: is missing (message.missing)"),
      (
        #"{"type":"call","id":2,"to":{"kind":"user","user":"b"},"offer":"v=0","headers":["x"]}"#,
        "#2 call.headers: expected an object, found an array (message.type)"
      ),
      (
        #"{"type":"call","id":2,"to":{"kind":"user","user":"b"},"offer":"v=0","headers":{"x-a":true}}"#,
        "#2 call.headers.x-a: expected a string, found a boolean (message.type)"
      ),
      (
        #"{"type":"call","id":2,"to":{"kind":"user","user":"b"},"offer":"v=0","anonymous":1}"#,
        "#2 call.anonymous: expected true or false, found a number (message.type)"
      ),
      (#"{"type":"hangup","id":3}"#, "#3 hangup.call: is missing (message.missing)"),
      (#"{"type":"hangup","id":3,"call":"/etc"}"#, "#3 hangup.call: '/' cannot stand here (message.value)"),
      (#"{"type":"mute","id":3,"call":"c"}"#, "#3 mute.muted: is missing (message.missing)"),
      (
        #"{"type":"report","id":3,"call":"c","figures":{"a":"1"}}"#,
        "#3 report.figures.a: expected a number, found a string (message.type)"
      ),
      (
        #"{"type":"report","id":3,"call":"c","figures":{},"heard":{}}"#,
        "#3 report.heard.loss: is missing (message.missing)"
      ),
      (
        #"{"type":"report","id":3,"call":"c","figures":{},"heard":{"loss":1.01}}"#,
        "#3 report.heard.loss: is out of range (message.range)"
      ),
      (
        #"{"type":"report","id":3,"call":"c","figures":{},"heard":{"loss":0,"round_trip":30001}}"#,
        "#3 report.heard.round_trip: is out of range (message.range)"
      ),
      (#"{"type":"register","id":1}"#, "#1 register.proof: is missing (message.missing)"),
      (
        #"{"type":"register","id":1,"proof":{"kind":"password"}}"#,
        "#1 register.proof.kind: 'password' is not known (message.unknown)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"signature","signature":"s","sequence":"01"}}"#,
        "#1 register.proof.sequence: is no decimal number of 64 bits (message.value)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"signature","signature":"s","sequence":-1}}"#,
        "#1 register.proof.sequence: is out of range (message.range)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"token","token":"t"},"capabilities":[1]}"#,
        "#1 register.capabilities[0]: expected a string, found a number (message.type)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"token","token":"t"},"application":"a","user":"u","device":""}"#,
        "#1 register.device: is empty (message.value)"
      ),
      (
        "{\"type\":\"register\",\"id\":1,\"proof\":{\"kind\":\"token\",\"token\":\"t\"},\"application\":\"a\",\"user\":\"u\",\"device\":\"a\\u0007\"}",
        "#1 register.device: holds a control character (message.value)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"token","token":"t"},"application":"a","user":"u","device":"d"}"#,
        "#1 register.capabilities: asks for neither calling nor messaging (message.value)"
      ),
      (
        #"{"type":"register","id":1,"proof":{"kind":"token","token":"t"},"application":"a","user":"u","device":"d","capabilities":["push"]}"#,
        "#1 register.capabilities: asks for neither calling nor messaging (message.value)"
      ),
      (
        BadMessageTests.manyHeaders,
        "#2 call.headers: has more than 64 members (message.many)"
      ),
      (#"{"type":"resume","id":1,"session":"s"}"#, "#1 resume.token: is missing (message.missing)"),
    ])
  func parts(_ text: String, _ expected: String) {
    #expect(problem(text) == expected)
  }

  /// 150 small headers: more than a call takes, and a message that can be understood.
  private static let manyHeaders =
    #"{"type":"call","id":2,"to":{"kind":"user","user":"b"},"offer":"v=0","headers":{"#
    + (0..<150).map { number in #""x-\#(number)":"1""# }.joined(separator: ",") + "}}"

  private static func members(_ count: Int, differing names: Int) -> String {
    #"{"type":"bye","# + (0..<count).map { number in #""x\#(number % names)":1"# }.joined(separator: ",") + "}"
  }

  @Test("keys are judged by the call, which names the rule: as many as stand in a message pass here") func manyKeys()
    throws
  {
    let text = #"{"type":"dtmf","id":3,"call":"c","digits":"\#(String(repeating: "1", count: 65))"}"#
    guard case .request(_, .sendDigits(_, let digits)) = try AppMessageCoder.decodeRequest(Array(text.utf8)) else {
      Issue.record("no keys")
      return
    }
    #expect(digits.utf8.count == 65)
  }

  @Test(
    "what is no message at all closes the connection",
    arguments: [
      ("", "message: the text ends too early (message.json) [1002]"),
      ("[]", "message: found an array (message.json) [1002]"),
      ("1", "message: found a number (message.json) [1002]"),
      (#"{"type":"bye"} x"#, "message: something follows the value (message.json) [1002]"),
      (#"{"type":"bye""#, "message: a comma or a closing brace is missing (message.json) [1002]"),
      (#"{"type":"bye",}"#, "message: a member's name in quotes is missing (message.json) [1002]"),
      (#"{"type":"bye","type":"ping"}"#, "message: a member stands twice (message.json) [1002]"),
      (
        BadMessageTests.members(40, differing: 39),
        "message: a member stands twice (message.json) [1002]"
      ),
      (
        BadMessageTests.members(1024, differing: 1024),
        "message: more than 1024 members (message.json) [1002]"
      ),
      (#"{"type":'bye'}"#, "message: no JSON value begins here (message.json) [1002]"),
      (#"{"type":"bye","x":01}"#, "message: a number is not written as JSON writes it (message.json) [1002]"),
      (#"{"type":"bye","x":1.}"#, "message: a number is not written as JSON writes it (message.json) [1002]"),
      (#"{"type":"bye","x":1e999}"#, "message: a number is out of range (message.json) [1002]"),
      (#"{"type":"bye","x":nul}"#, "message: no JSON value begins here (message.json) [1002]"),
      (#"{"type":"bye","x":"\ud800"}"#, "message: half of a surrogate pair (message.json) [1002]"),
      (#"{"type":"bye","x":"\udc00\ud800"}"#, "message: half of a surrogate pair (message.json) [1002]"),
      (#"{"type":"bye","x":"\x"}"#, "message: no such escape (message.json) [1002]"),
      (#"{"type":"bye","x":"\u12g4"}"#, "message: four hexadecimal digits are missing (message.json) [1002]"),
      ("{\"type\":\"bye\",\"x\":\"\n\"}", "message: a control character stands in a string (message.json) [1002]"),
      (#"{"type":"bye","x":"#, "message: the text ends too early (message.json) [1002]"),
    ])
  func noMessages(_ text: String, _ expected: String) { #expect(problem(text) == expected) }

  @Test("limits close with their own codes") func limits() {
    func code(_ bytes: [UInt8]) -> UInt16? {
      do {
        _ = try AppMessageCoder.decodeRequest(bytes)
        return nil
      } catch { return error.closeCode?.rawValue }
    }
    let head = Array(#"{"type":"bye","x":"#.utf8)
    func nested(_ depth: Int) -> [UInt8] {
      head + [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
        + [UInt8(ascii: "}")]
    }
    // The message itself is the first level.
    #expect(code(nested(AppMessageCoder.maximumDepth - 1)) == nil)
    #expect(code(nested(AppMessageCoder.maximumDepth)) == 1002)
    #expect(code(nested(100_000)) == 1002)
    let room = AppMessageCoder.maximumMessageBytes - head.count - 3
    func padded(_ count: Int) -> [UInt8] {
      head + [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: count) + Array("\"}".utf8)
    }
    #expect(code(padded(room)) == nil)
    #expect(code(padded(room + 1)) == 1009)
    #expect(code(head + [UInt8(ascii: "\""), 0xC3, 0x28] + Array("\"}".utf8)) == 1007)
    #expect(code(head + [UInt8(ascii: "\""), 0xED, 0xA0, 0x80] + Array("\"}".utf8)) == 1007)
    let members = (0..<1100).map { #""m\#($0)":1"# }.joined(separator: ",")
    #expect(code(Array(#"{"type":"bye",\#(members)}"#.utf8)) == 1002)
    let lists = [String](repeating: "[1,2,3]", count: 1024).joined(separator: ",")
    #expect(code(head + Array("[\(lists)]}".utf8)) == 1002)
    let elements = [String](repeating: "1", count: 2000).joined(separator: ",")
    #expect(code(head + Array("[\(elements)]}".utf8)) == 1002)
  }

  @Test("every message cut short, and every byte turned, is read or refused without a trap") func mutilated() throws {
    var taken = 0
    var unlike = 0
    for message in try Samples.clientMessages() {
      let bytes = AppMessageCoder.encode(message)
      for count in 0..<bytes.count where (try? AppMessageCoder.decodeRequest(Array(bytes[..<count]))) != nil {
        taken += 1
      }
      for index in bytes.indices {
        var turned = bytes
        turned[index] ^= 1 << UInt8(index % 8)
        guard let read = try? AppMessageCoder.decodeRequest(turned) else { continue }
        // What was read can be written and read again as the same.
        if try AppMessageCoder.decodeRequest(AppMessageCoder.encode(read)) != read { unlike += 1 }
      }
    }
    for message in try Samples.serverMessages() {
      let bytes = AppMessageCoder.encode(message)
      for count in 0..<bytes.count where (try? AppMessageCoder.decodeServer(Array(bytes[..<count]))) != nil {
        taken += 1
      }
    }
    #expect(taken == 0)
    #expect(unlike == 0)
  }
}
