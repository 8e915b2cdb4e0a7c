public import CallModel

/// What a test of a trunk does beside looking: whether somebody is called, and who seems to call.
public struct TrunkTestOrder: Hashable, Sendable {
  /// Who is called; `nil`: nobody.
  public let number: E164Number?
  /// The number that calls; `nil`: one of the trunk's own.
  public let caller: E164Number?

  /// Nobody is called.
  public init() { (number, caller) = (nil, nil) }

  /// - Parameters:
  ///   - number: as people write it.
  ///   - caller: as people write it.
  /// - Throws: ``InvalidValue`` of kind `number` or `caller` for texts that are no numbers; emergency and test numbers are
  ///   never called for a test.
  public init(number: String?, caller: String?) throws(InvalidValue) {
    self.number = try number.map { text throws(InvalidValue) in
      // A short code dialled by mistake must never ring where somebody waits to help.
      let digits = text.filter { $0 != "+" && $0 != " " && $0 != "-" }
      let isEmergency = (0...3).contains { prefix in
        digits.count - prefix <= EmergencyNumber.maximumDigits && digits.count <= EmergencyNumber.maximumDigits
          && (try? EmergencyNumber(digits.dropFirst(prefix))) != nil
      }
      guard !isEmergency else {
        throw InvalidValue(
          kind: "number", rule: "number.emergency", offset: nil,
          problem: "emergency services are never called for a test", accepted: "a telephone of your own")
      }
      let number = try TrunkTestOrder.read(text, "number")
      guard number.testNumber == nil else {
        throw InvalidValue(
          kind: "number", rule: "number.test", offset: nil,
          problem: "the gateway answers that number itself, without a trunk", accepted: "a telephone of your own")
      }
      return number
    }
    self.caller = try caller.map { text throws(InvalidValue) in try TrunkTestOrder.read(text, "caller") }
  }

  private static func read(_ text: String, _ kind: String) throws(InvalidValue) -> E164Number {
    func refusal(_ problem: String, _ position: Int?) -> InvalidValue {
      InvalidValue(kind: kind, rule: "number", offset: position, problem: problem, accepted: TypedNumber.accepted)
    }
    guard text.utf8.count <= TypedNumber.maximumBytes else { throw refusal("too long", nil) }
    switch TypedNumber(text) {
    case .number(let number): return number
    case .emergency(let number): throw refusal("\(number.code) is an emergency number", nil)
    case .problem(let message, _, let position): throw refusal(message, position)
    }
  }
}
