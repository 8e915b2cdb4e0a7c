/// Says what a case that listens in real time has shown: whether it is good, is to be repeated because somebody was late,
/// or has failed. Nothing else excuses a case, and lateness does so within the bounds that stand here.
///
/// What is compared with is a control: the same peers joined without a gateway, in the same minute.
public enum ListeningJudge {
  /// Who was never later than this was on time: two packets of 20 ms, which the jitter buffers of all our peers hold.
  public static let leastLateMilliseconds = 40.0
  /// Nor is anybody late whose small delays come to less than this share of the time that was listened to.
  public static let leastLateShare = 0.05
  /// Where the control stood so many times the lateness without harm, at worst and in all, lateness is no explanation.
  public static let clearlyLater = 3.0
  /// Lateness delays packets; on one machine it loses none. More missing than this share is the gateway's doing.
  public static let mostLostShare = 0.005
  /// How often a case is repeated.
  public static let mostRepeats = 3

  public enum Verdict: Hashable, Sendable {
    case good
    /// With the explanation.
    case again(String)
    /// With the reason.
    case failed(String)
  }

  /// Whether the verdict depends on a control, which takes some ten seconds.
  public static func needsControl(_ heard: Heard, repeats: Int = 0) -> Bool {
    !heard.missed.isEmpty && !losesPackets(heard) && repeats < mostRepeats
  }

  /// - Parameters:
  ///   - heard: with the gateway in between.
  ///   - control: without it; `nil` where there can be none.
  ///   - repeats: how often the case was repeated already.
  public static func verdict(_ heard: Heard, control: Heard?, repeats: Int) -> Verdict {
    if losesPackets(heard) {
      let more = heard.missed.isEmpty ? "" : "; missed: \(list(heard.missed))"
      return .failed("\(lost(heard)): lateness delays packets and loses none\(more)")
    }
    guard !heard.missed.isEmpty else { return .good }
    let missed = "missed: \(list(heard.missed))"
    guard repeats < mostRepeats else { return .failed("\(missed), after \(repeats) repeats: \(list(heard.lateness))") }
    if let control, !control.missed.isEmpty || losesPackets(control) {
      let problem = losesPackets(control) ? lost(control) : list(control.missed)
      return .again("\(missed); the same peers without the gateway: \(problem)")
    }
    let late = heard.lateness.filter { isLate($0, in: heard.seconds) }
    guard !late.isEmpty else {
      return .failed(
        "\(missed); all were on time: \(list(heard.lateness))"
          + (control == nil ? "" : "; the same peers without the gateway are good"))
    }
    if let control, isClearlyLater(control, than: heard) {
      return .failed(
        "\(missed); the same peers without the gateway are good though later: \(list(control.lateness))")
    }
    return .again("\(missed); late: \(list(late))")
  }

  private static func isLate(_ lateness: Lateness, in seconds: Double) -> Bool {
    lateness.worstMilliseconds >= leastLateMilliseconds
      || lateness.totalMilliseconds >= leastLateShare * seconds * 1_000
  }

  private static func isClearlyLater(_ control: Heard, than heard: Heard) -> Bool {
    func most(_ heard: Heard, _ figure: (Lateness) -> Double) -> Double { heard.lateness.map(figure).max() ?? 0 }
    return most(control, \.worstMilliseconds) >= clearlyLater * most(heard, \.worstMilliseconds)
      && most(control, \.totalMilliseconds) >= clearlyLater * most(heard, \.totalMilliseconds)
  }

  private static func losesPackets(_ heard: Heard) -> Bool {
    guard let packets = heard.packets else { return false }
    return packets.lost > mostLostShare * (packets.received + packets.lost)
  }

  private static func lost(_ heard: Heard) -> String {
    let packets = heard.packets ?? (0, 0)
    return "\(Int(packets.lost)) of \(Int(packets.received + packets.lost)) packets are missing"
  }

  private static func list(_ values: [some CustomStringConvertible]) -> String {
    values.isEmpty ? "none" : values.map(\.description).joined(separator: ", ")
  }
}
