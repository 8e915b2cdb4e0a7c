import CallModel

extension JSONObject {
  /// An object that a gateway answered with.
  /// - Returns: `nil` for anything but a JSON object.
  init?(answer bytes: [UInt8]) {
    guard case .object(let object)? = try? JSONReader.read(bytes, .own) else { return nil }
    self = object
  }
}

extension CallModel.JSONValue {
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
