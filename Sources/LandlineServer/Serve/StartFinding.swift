import CallModel

/// One thing about a configuration that keeps a gateway, or the calls of one application, from working.
public struct StartFinding: Hashable, Sendable, CustomStringConvertible {
  /// The configuration's key: `http.bind`, `listeners.public-tls`, `environments.production.applications.phone`.
  public var place: String
  /// One clause without the key and without what to do: `account alice is locked`.
  public var problem: String
  /// What to do about it.
  public var fix: String?
  /// Whether the gateway, or every paid call of an application, fails because of it.
  public var isSerious: Bool

  init(_ place: String, _ problem: String, fix: String?, isSerious: Bool = true) {
    self.place = place
    self.problem = problem
    self.fix = fix
    self.isSerious = isSerious
  }

  /// `http.bind: 127.0.0.1:8080 is taken by …: end it, or …`.
  public var description: String { "\(place): \(problem)" + (fix.map { ": \($0)" } ?? "") }
}
