import CallModel

extension JSONObject {
  /// An object that a gateway answered with.
  /// - Returns: `nil` for anything but a JSON object.
  init?(answer bytes: [UInt8]) {
    guard case .object(let object)? = try? JSONReader.read(bytes, .own) else { return nil }
    self = object
  }
}

extension JSONValue {
  /// A string as it is, a number in digits; `nil` of anything else.
  var text: String? {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    case .number(let number): "\(number)"
    case .null, .boolean, .array, .object: nil
    }
  }
}

extension JSONValue {
  /// Compact, on one line, with nothing hidden in it.
  var line: String { VisibleText.json(String(decoding: bytes, as: UTF8.self)) }
}
