import CallModel

/// Why a message is not taken, with the path of the part.
struct MessageProblem: Error {
  /// `call.to.number`.
  let path: String
  let rule: String
  let problem: String
  let accepted: String

  /// Longest path in a message: names come from outside.
  private static let maximumPathBytes = 128

  var failure: CallFailure {
    CallFailure(
      .message,
      invalidValue: InvalidValue(
        kind: String(CallFailure.shortened(path).prefix(MessageProblem.maximumPathBytes)), rule: "message.\(rule)",
        offset: nil, problem: CallFailure.shortened(problem), accepted: accepted))
  }
}

/// The members of an object in a message; what it does not ask for is passed over, so that newer peers are understood.
struct MessageReader {
  let object: JSONObject
  /// Where the object stands: `call.to`.
  let path: String

  func problem(_ name: String, _ rule: String, _ problem: String, accepted: String) -> MessageProblem {
    MessageProblem(path: name.isEmpty ? path : "\(path).\(name)", rule: rule, problem: problem, accepted: accepted)
  }

  /// A member that is absent or null is the same.
  private func value(_ name: String) -> JSONValue? {
    switch object[name] {
    case nil, .null?: nil
    case let value?: value
    }
  }

  private func missing(_ name: String, _ expected: String) -> MessageProblem {
    problem(name, "missing", "is missing", accepted: expected)
  }

  private func type(_ name: String, _ expected: String, _ value: JSONValue) -> MessageProblem {
    problem(name, "type", "expected \(expected), found \(value.kind)", accepted: expected)
  }

  // MARK: Texts

  func optionalString(_ name: String, most: Int) throws(MessageProblem) -> String? {
    guard let value = value(name) else { return nil }
    guard case .string(let text) = value else { throw type(name, "a string", value) }
    guard text.utf8.count <= most else {
      throw problem(name, "long", "takes more than \(most) bytes", accepted: "a string of at most \(most) bytes")
    }
    return text
  }

  func string(_ name: String, most: Int) throws(MessageProblem) -> String {
    guard let text = try optionalString(name, most: most) else { throw missing(name, "a string") }
    return text
  }

  func optionalChoice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws(MessageProblem) -> Choice? where Choice.RawValue == String {
    guard let text = try optionalString(name, most: 64) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw unknown(name, text, Choice.allCases.map(\.rawValue))
    }
    return choice
  }

  func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, default absent: Choice? = nil
  ) throws(MessageProblem) -> Choice where Choice.RawValue == String {
    guard let choice = try optionalChoice(name, Choice.self) ?? absent else { throw missing(name, "a string") }
    return choice
  }

  func unknown(_ name: String, _ text: String, _ known: [String]) -> MessageProblem {
    let hint = Spelling.nearest(to: text, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return problem(
      name, "unknown", "'\(text.unicodeScalars.prefix(64).map(String.init).joined())' is not known\(hint)",
      accepted: known.joined(separator: ", "))
  }

  func call(_ name: String = "call") throws(MessageProblem) -> CallID {
    let text = try string(name, most: CallID.maximumBytes)
    do {
      return try CallID(validating: text)
    } catch {
      throw problem(name, "value", error.problem, accepted: error.accepted)
    }
  }

  func instant(_ name: String) throws(MessageProblem) -> Instant? {
    guard let text = try optionalString(name, most: 32) else { return nil }
    guard let instant = Timestamp.read(text) else {
      throw problem(name, "value", "is no time", accepted: "RFC 3339 in UTC such as 2026-11-21T05:30:04.118Z")
    }
    return instant
  }

  // MARK: Numbers

  func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(MessageProblem) -> Int64? {
    guard let value = value(name) else { return nil }
    guard case .integer(let integer) = value else { throw type(name, "a whole number", value) }
    guard range.contains(integer) else {
      throw problem(
        name, "range", "is out of range", accepted: "a whole number of \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  func integer(_ name: String, in range: ClosedRange<Int64> = 0...Int64.max) throws(MessageProblem) -> Int64 {
    guard let integer = try optionalInteger(name, in: range) else { throw missing(name, "a whole number") }
    return integer
  }

  func optionalNumber(_ name: String) throws(MessageProblem) -> Double? {
    switch value(name) {
    case nil: return nil
    case .integer(let integer)?: return Double(integer)
    case .number(let number)?: return number
    case let value?: throw type(name, "a number", value)
    }
  }

  func number(_ name: String) throws(MessageProblem) -> Double {
    guard let number = try optionalNumber(name) else { throw missing(name, "a number") }
    return number
  }

  func bool(_ name: String, default absent: Bool? = nil) throws(MessageProblem) -> Bool {
    guard let value = value(name) else {
      guard let absent else { throw missing(name, "true or false") }
      return absent
    }
    guard case .boolean(let bool) = value else { throw type(name, "true or false", value) }
    return bool
  }

  // MARK: Parts

  func optionalPart(_ name: String) throws(MessageProblem) -> MessageReader? {
    guard let value = value(name) else { return nil }
    guard case .object(let object) = value else { throw type(name, "an object", value) }
    return MessageReader(object: object, path: "\(path).\(name)")
  }

  func part(_ name: String) throws(MessageProblem) -> MessageReader {
    guard let part = try optionalPart(name) else { throw missing(name, "an object") }
    return part
  }

  /// Empty where it is absent.
  func list(_ name: String, most: Int) throws(MessageProblem) -> [JSONValue] {
    guard let value = value(name) else { return [] }
    guard case .array(let values) = value else { throw type(name, "an array", value) }
    guard values.count <= most else {
      throw problem(name, "many", "has more than \(most) elements", accepted: "at most \(most) elements")
    }
    return values
  }

  func parts(_ name: String, most: Int) throws(MessageProblem) -> [MessageReader] {
    var parts: [MessageReader] = []
    for (index, value) in try list(name, most: most).enumerated() {
      guard case .object(let object) = value else { throw type("\(name)[\(index)]", "an object", value) }
      parts.append(MessageReader(object: object, path: "\(path).\(name)[\(index)]"))
    }
    return parts
  }

  /// Numbers of participants of a conference.
  func participants(_ name: String, most: Int) throws(MessageProblem) -> [Int] {
    var numbers: [Int] = []
    for (index, value) in try list(name, most: most).enumerated() {
      guard case .integer(let number) = value, (1...MessageLimit.participant).contains(number) else {
        throw problem(
          "\(name)[\(index)]", "value", "is no participant", accepted: "1 to \(MessageLimit.participant)")
      }
      numbers.append(Int(number))
    }
    return numbers
  }

  func strings(_ name: String, most: Int) throws(MessageProblem) -> [String] {
    var texts: [String] = []
    for (index, value) in try list(name, most: most).enumerated() {
      guard case .string(let text) = value else { throw type("\(name)[\(index)]", "a string", value) }
      texts.append(text)
    }
    return texts
  }
}
