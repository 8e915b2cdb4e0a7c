/// How late somebody was while a test listened: the clock of one program, of one thread of it, or of the machine.
public struct Lateness: Hashable, Sendable, CustomStringConvertible {
  /// Whose lateness: the name of a program, or `this machine`.
  public var who: String
  /// The most in about a tenth of a second, in milliseconds.
  public var worstMilliseconds: Double
  /// All of it, in milliseconds.
  public var totalMilliseconds: Double

  public init(_ who: String, worstMilliseconds: Double, totalMilliseconds: Double) {
    self.who = who
    self.worstMilliseconds = worstMilliseconds
    self.totalMilliseconds = totalMilliseconds
  }

  public var description: String {
    "\(who) \(Int(worstMilliseconds.rounded())) ms late at worst, \(Int(totalMilliseconds.rounded())) ms in all"
  }
}
