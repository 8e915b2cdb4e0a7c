import Foundation

/// An object that a gateway answered with, its members in the order of their names.
struct JSONObject: Sendable {
  indirect enum Value: Sendable {
    case null
    case boolean(Bool)
    /// As it was written.
    case number(String)
    case text(String)
    case array([Value])
    case object(JSONObject)

    var text: String? {
      switch self {
      case .text(let text), .number(let text): text
      case .null, .boolean, .array, .object: nil
      }
    }
  }

  let members: [(String, Value)]

  /// - Returns: `nil` for anything but a JSON object.
  init?(_ bytes: [UInt8]) {
    guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { return nil }
    self.init(object)
  }

  private init(_ object: [String: Any]) {
    members = object.sorted { $0.key < $1.key }.map { ($0.key, JSONObject.value($0.value)) }
  }

  subscript(name: String) -> Value? { members.first { $0.0 == name }?.1 }

  private static func value(_ any: Any) -> Value {
    switch any {
    case let text as String: .text(text)
    case let number as NSNumber:
      // A boolean is a number to Foundation; only its type tells.
      isBoolean(number) ? .boolean(number.boolValue) : .number("\(number)")
    case let values as [Any]: .array(values.map(value))
    case let object as [String: Any]: .object(JSONObject(object))
    default: .null
    }
  }

  private static func isBoolean(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}

extension JSONObject.Value {
  var object: JSONObject? {
    if case .object(let object) = self { object } else { nil }
  }

  var array: [JSONObject]? {
    guard case .array(let values) = self else { return nil }
    return values.compactMap { value in
      if case .object(let object) = value { return object }
      return nil
    }
  }
}
