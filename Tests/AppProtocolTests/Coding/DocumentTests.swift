import AppProtocol
import CallModel
import Foundation
import Testing

@Suite("The protocol's document")
struct DocumentTests {
  private let checker: SchemaChecker

  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/AppProtocol/API/landline.v1.asyncapi.json")

  init() throws {
    checker = SchemaChecker(
      document: try JSONReader.read(
        Array(try Data(contentsOf: Self.file)), JSONReader.Limits(bytes: 1 << 20, depth: 64)))
  }

  private func read(_ bytes: [UInt8]) throws -> JSONValue {
    try JSONReader.read(bytes, JSONReader.Limits(bytes: 1 << 20, depth: 32))
  }

  private func names(_ path: String) -> Set<String> {
    guard case .object(let object)? = checker.resolve(path) else { return [] }
    return Set(object.members.map(\.name))
  }

  private func problems(_ name: String, _ bytes: [UInt8]) throws -> [String] {
    guard let schema = checker.resolve("#/components/messages/\(name)/payload") else { return ["no message \(name)"] }
    return try checker.problems(try read(bytes), schema)
  }

  /// The name of each message in the document: a new case has to be given one.
  private func name(_ message: ClientMessage) -> String {
    switch message {
    case .register: "app.register"
    case .resume: "app.resume"
    case .ping: "app.ping"
    case .bye: "app.bye"
    case .request(_, let request):
      switch request {
      case .call: "app.call"
      case .listen: "app.listen"
      case .alert: "app.alert"
      case .accept: "app.accept"
      case .decline: "app.decline"
      case .hangUp: "app.hangup"
      case .sendDigits: "app.dtmf"
      case .offer: "app.offer"
      case .answer: "app.answer"
      case .mute: "app.mute"
      case .transfer, .join: "app.transfer"
      case .completeTransfer: "app.complete"
      case .takeBack: "app.take-back"
      case .report: "app.report"
      case .room: "app.room"
      case .record: "app.record"
      }
    }
  }

  private func name(_ message: ServerMessage) -> String {
    switch message {
    case .registered: "gateway.registered"
    case .resumed: "gateway.resumed"
    case .pong: "gateway.pong"
    case .error: "gateway.error"
    case .draining: "gateway.draining"
    case .relays: "gateway.turn"
    case .closing: "gateway.closing"
    case .event(let event, _):
      switch event {
      case .placed: "gateway.placed"
      case .done: "gateway.done"
      case .answered: "gateway.answered"
      case .refused: "gateway.error"
      case .incoming: "gateway.incoming"
      case .progressing: "gateway.progress"
      case .ringing: "gateway.ringing"
      case .earlyMedia: "gateway.early"
      case .accepted: "gateway.accepted"
      case .established: "gateway.established"
      case .price: "gateway.price"
      case .creditEnds: "gateway.credit"
      case .digit: "gateway.digit"
      case .held: "gateway.held"
      case .transfer: "gateway.transfer"
      case .offered: "gateway.offered"
      case .quality: "gateway.quality"
      case .warning: "gateway.warning"
      case .members: "gateway.members"
      case .speakers: "gateway.speakers"
      case .recording: "gateway.recording"
      case .ended: "gateway.ended"
      }
    }
  }

  @Test("every message that an app sends is as the document says, and the document has no other") func fromApp() throws
  {
    var seen: Set<String> = []
    for message in try Samples.clientMessages() {
      let bytes = AppMessageCoder.encode(message)
      #expect(try problems(name(message), bytes) == [], "\(String(decoding: bytes, as: UTF8.self))")
      seen.insert(name(message))
    }
    #expect(seen == names("#/components/messages").filter { $0.hasPrefix("app.") })
    // Each is an operation of its own name.
    #expect(names("#/operations") == Set(seen.map { String($0.dropFirst(4)) }).union(["events"]))
  }

  @Test("every message of the gateway is as the document says, and the document has no other") func fromGateway() throws
  {
    var seen: Set<String> = []
    for message in try Samples.serverMessages() {
      let bytes = AppMessageCoder.encode(message)
      #expect(try problems(name(message), bytes) == [], "\(String(decoding: bytes, as: UTF8.self))")
      seen.insert(name(message))
    }
    #expect(seen == names("#/components/messages").filter { $0.hasPrefix("gateway.") })
    #expect(names("#/channels/connection/messages") == names("#/components/messages"))
  }

  @Test("every message has an example that is as the document says and that the program reads and writes")
  func examples() throws {
    let document = try JSONSerialization.jsonObject(with: Data(contentsOf: Self.file)) as? [String: Any]
    let components = document?["components"] as? [String: Any]
    let messages = try #require(components?["messages"] as? [String: [String: Any]])
    for name in names("#/components/messages").sorted() {
      let found = messages[name]?["examples"] as? [[String: Any]] ?? []
      #expect(!found.isEmpty, "\(name) has no example")
      for example in found {
        let payload = try #require(example["payload"] as? NSDictionary, "\(name)")
        let bytes = Array(try JSONSerialization.data(withJSONObject: payload))
        #expect(try problems(name, bytes) == [], "\(name)")
        let again: [UInt8]
        if name.hasPrefix("app.") {
          let message = try AppMessageCoder.decodeRequest(bytes)
          #expect(self.name(message) == name)
          again = AppMessageCoder.encode(message)
        } else {
          let message = try #require(try AppMessageCoder.decodeServer(bytes), "\(name)")
          #expect(self.name(message) == name)
          again = AppMessageCoder.encode(message)
        }
        #expect(try JSONSerialization.jsonObject(with: Data(again)) as? NSDictionary == payload, "\(name)")
      }
    }
  }

  @Test("every reference leads somewhere") func references() {
    var references: [String] = []
    func collect(_ value: JSONValue) {
      switch value {
      case .object(let object):
        for member in object.members {
          if member.name == "$ref", case .string(let target) = member.value { references.append(target) }
          collect(member.value)
        }
      case .array(let values): values.forEach(collect)
      case .null, .boolean, .integer, .number, .string: break
      }
    }
    collect(checker.document)
    #expect(references.count > 100)
    #expect(references.filter { checker.resolve($0) == nil } == [])
    let schemas = names("#/components/schemas")
    let used = Set(references.compactMap { $0.hasPrefix("#/components/schemas/") ? String($0.dropFirst(21)) : nil })
    #expect(schemas.subtracting(used) == [], "schemas that nothing uses")
  }

  @Test("codes, causes and names in the document are those of the program") func enumerations() {
    func values(_ path: String) -> Set<JSONValue> {
      guard case .array(let values)? = checker.resolve(path) else { return [] }
      return Set(values)
    }
    func texts(_ names: [String]) -> Set<JSONValue> { Set(names.map(JSONValue.string)) }
    let failure = "#/components/schemas/Failure/properties"
    #expect(values("\(failure)/code/enum") == texts(CallFailureCode.allCases.map(\.rawValue)))
    #expect(values("\(failure)/refusal/enum") == texts(CallRefusal.allCases.map(\.rawValue)))
    #expect(values("\(failure)/retry/enum") == texts(RetryAdvice.allCases.map(\.rawValue)))
    #expect(values("\(failure)/domain/enum") == texts(CallFailureDomain.allCases.map(\.rawValue)))
    let messages = "#/components/messages"
    #expect(
      values("\(messages)/gateway.ended/payload/properties/cause/enum") == texts(CallEndCause.allCases.map(\.rawValue)))
    #expect(
      values("\(messages)/gateway.warning/payload/properties/warning/enum")
        == texts(QualityWarning.allCases.map(\.rawValue)))
    #expect(values("#/components/schemas/Capability/enum") == texts(AppCapability.allCases.map(\.rawValue)))
  }

  @Test(
    "the check finds what is wrong",
    arguments: [
      ("app.ping", #"{"type":"ping"}"#, "$: lacks id"),
      ("app.ping", #"{"type":"ping","id":0}"#, "$.id: is too small"),
      ("app.ping", #"{"type":"ping","id":9007199254740992}"#, "$.id: is too large"),
      ("app.ping", #"{"type":"ping","id":"1"}"#, "$.id: is no integer"),
      ("app.ping", #"{"type":"ping","id":1,"x":1}"#, "$: has x"),
      ("app.hangup", #"{"type":"hangup","id":1,"call":"/"}"#, "$.call: does not match ^[A-Za-z0-9][A-Za-z0-9._@+-]*$"),
      (
        "app.call", #"{"type":"call","id":1,"offer":"","to":{"kind":"phone","user":"x"}}"#,
        "$.to: fits 0 of the alternatives"
      ),
      ("app.report", #"{"type":"report","id":1,"call":"c","figures":{"a":"1"}}"#, "$.figures.a: is no number"),
    ])
  func finds(_ name: String, _ text: String, _ problem: String) throws {
    #expect(try problems(name, Array(text.utf8)) == [problem])
  }
}
