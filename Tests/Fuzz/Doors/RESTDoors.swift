import CallModel
import LandlineHTTP
import LedgerCore

/// Requests to the HTTP interface, and the number under a dial field.
enum RESTDoors {
  static let all = [
    FuzzDoor("rest-json", "a JSON body", dictionary: "json", maximumBytes: 16_384, json),
    FuzzDoor("rest-body", "the members of a body", dictionary: "rest", maximumBytes: 8192, body),
    FuzzDoor("rest-query", "a query string", dictionary: "rest", maximumBytes: 8192, query),
    FuzzDoor("rest-cursor", "a place in a list", dictionary: "rest", maximumBytes: 300, cursor),
    FuzzDoor("rest-instant", "a time", dictionary: "rest", maximumBytes: 64, instant),
    FuzzDoor("typed-number", "a number as people paste it", dictionary: "number", maximumBytes: 128, typed),
  ]

  /// What was read is written so that it reads the same.
  private static func json(_ input: [UInt8]) throws(BrokenPromise) {
    let tree: JSONValue
    do {
      tree = try JSONReader.read(input, RESTBody.limits)
    } catch {
      try promise((0...input.count).contains(error.offset), "a fault at byte \(error.offset)")
      return
    }
    let written = tree.bytes
    try promise(written.count <= 6 * input.count + 64, "\(written.count) bytes of \(input.count)")
    try promise(
      (try? JSONReader.read(written, RESTBody.limits)) == tree, "\(SIPDoors.text(written)) says something else")
  }

  private static let members: [RESTBody.Member] = [
    .init(name: "kind", kind: .text, isRequired: true, description: "a text"),
    .init(name: "amount", kind: .amount, description: "an amount"),
    .init(name: "seq", kind: .integer, description: "a number"),
    .init(name: "force", kind: .flag, description: "a flag"),
    .init(name: "destination", kind: .destination, description: "whom"),
    .init(name: "headers", kind: .texts, description: "texts"),
    .init(name: "note", kind: .text, description: "for people"),
    .init(name: "account", kind: .text, description: "a name"),
  ]

  /// Every refusal is a problem that is a JSON object; every value keeps its bounds.
  private static func body(_ input: [UInt8]) throws(BrokenPromise) {
    guard let body = try checked({ try RESTBody(input, type: "application/json; charset=utf-8", members) }) else {
      return
    }
    _ = try checked { try body.required("kind") }
    _ = try checked { try body.integer("seq") }
    _ = try checked { try body.flag("force") }
    _ = try checked { try body.texts("headers") }
    if let amount = try checked({ try body.positive("amount", .eur) }).flatMap({ $0 }) {
      try promise(amount.micros > 0 && amount.currency == .eur, "an amount of \(amount)")
    }
    if let note = try checked({ try body.note("note") }) {
      try promise(note.utf8.count <= LedgerOperation.maximumDetailBytes, "a note of \(note.utf8.count) bytes")
      try promise(!note.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control byte in a note")
    }
    if let name = try checked({ try body.name("account", as: AccountName.self) }).flatMap({ $0 }) {
      try promise((try? AccountName(validating: name.text)) != nil, "no name")
    }
    if let (kind, target) = try checked({ try body.destination("destination") }) {
      _ = try? Destination(kind, target)
    }
  }

  private static func checked<Value>(_ read: () throws -> Value) throws(BrokenPromise) -> Value? {
    do {
      return try read()
    } catch let problem as Problem {
      try promise((400...499).contains(problem.code.status), "status \(problem.code.status)")
      let bytes = problem.body(instance: "/v1/fuzz")
      guard case .object = try? JSONReader.read(bytes, .own) else {
        throw BrokenPromise(description: "a problem that is no JSON: \(SIPDoors.text(bytes))")
      }
      return nil
    } catch {
      throw BrokenPromise(description: "no problem: \(error)")
    }
  }

  private static func query(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let parameters = PercentText.query(text) else { return }
    try promise(Set(parameters.map(\.name)).count == parameters.count, "a parameter stands twice")
    let bytes = parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    try promise(bytes <= text.utf8.count, "more than was sent")
  }

  private static func cursor(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    for count in 1...2 {
      guard let numbers = RESTCursor.read(text, "calls", count: count) else { continue }
      try promise(numbers.count == count, "\(numbers.count) numbers")
      let written = RESTCursor.write("calls", numbers)
      try promise(RESTCursor.read(written, "calls", count: count) == numbers, "\(written) is another place")
    }
  }

  private static func instant(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let instant = InstantReader.read(text) else { return }
    let written = "\(instant)"
    // Beyond year 9999 an offset may lead; such a time is only written.
    guard written.utf8.count <= 24, !written.hasPrefix("-") else { return }
    try promise(InstantReader.read(written) == instant, "\(written) is another time than \(text)")
  }

  private static func typed(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    switch TypedNumber(text) {
    case .number(let number):
      try promise(TypedNumber("\(number)") == .number(number), "\(number) is another number")
    case .emergency(let number):
      try promise(TypedNumber("\(number)") == .emergency(number), "\(number) is another number")
    case .problem(let message, _, let position):
      try promise(!message.isEmpty, "a problem without words")
      if let position { try promise((0...text.utf16.count).contains(position), "position \(position) of \(text)") }
    }
  }
}
