import Foundation

/// What a Python peer told: a name, and values by their names.
public struct PythonEvent: Sendable, CustomStringConvertible {
  public let name: String
  private let line: String

  /// `nil` for a line that is no event: libraries print lines of their own.
  public init?(_ line: Substring) {
    guard let name = Self.object(String(line))?["event"] as? String else { return nil }
    self.name = name
    self.line = String(line)
  }

  /// - Parameter path: a key, or keys of objects in objects and places in lists: `failure.attempts.0.trunk`.
  public func text(_ path: String) -> String? { value(path) as? String }
  public func number(_ path: String) -> Double? { (value(path) as? NSNumber)?.doubleValue }
  public func flag(_ path: String) -> Bool? { (value(path) as? NSNumber)?.boolValue }
  /// Entries of a list or of an object; 0 where there is none.
  public func count(_ path: String) -> Int {
    (value(path) as? [Any])?.count ?? (value(path) as? [String: Any])?.count ?? 0
  }
  public var description: String { line }

  private func value(_ path: String) -> Any? {
    path.split(separator: ".").reduce(Self.object(line) as Any?) { value, key in
      if let list = value as? [Any] { return Int(key).flatMap { list.indices.contains($0) ? list[$0] : nil } }
      return (value as? [String: Any])?[String(key)]
    }
  }

  private static func object(_ line: String) -> [String: Any]? {
    try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
  }
}
