import Foundation

/// What a Python peer told: a name, and values by their names.
public struct PythonEvent: Sendable, CustomStringConvertible {
  public let name: String
  private let line: String

  /// `nil` for a line that is no event: libraries print lines of their own.
  init?(_ line: Substring) {
    guard let name = Self.object(String(line))?["event"] as? String else { return nil }
    self.name = name
    self.line = String(line)
  }

  public func text(_ key: String) -> String? { Self.object(line)?[key] as? String }
  public func number(_ key: String) -> Double? { (Self.object(line)?[key] as? NSNumber)?.doubleValue }
  public var description: String { line }

  private static func object(_ line: String) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
  }
}
