/// The conferences of one mixer for some seconds.
package struct ConferenceTrial: Sendable, Encodable {
  /// How long sound takes from one participant to another.
  package struct Delay: Sendable, Encodable {
    /// Milliseconds beyond what the sender's codec takes.
    package var median: Double
    package var lowest: Double
    package var highest: Double
    /// Bursts that were heard, and that were sent.
    package var heard: Int
    package var sent: Int
  }

  /// What one heard of two tones.
  package struct Tones: Sendable, Encodable {
    package var packets: Int
    /// Jumps that a sum of the tones does not make, however it is limited.
    package var wraps: Int
    /// Packets without sound, and those that did not come.
    package var gaps: Int
  }

  package var rooms: Int
  package var participants: Int
  /// Microseconds of processor time of the mixer in a second of one participant.
  package var cpuMicrosecondsPerParticipantSecond: Double
  /// Part of the packets that the mixer left out, or that did not arrive.
  package var loss: Double
  /// Packets that a participant hears in a second; fewer than 50 where the mixer sends no silence.
  package var packetsPerSecond: Double
  /// dBov of what one who listens hears.
  package var level: Double?
  package var delay: Delay?
  package var tones: Tones?

  package var isCounted: Bool { loss <= MediaTrial.acceptedLoss }

  /// From what the participants' program says.
  package init(said: String, rooms: Int) throws(BenchProblem) {
    let figures = PrintedFigures(text: said)
    self.rooms = rooms
    participants = Int(try figures.number(after: "participants "))
    cpuMicrosecondsPerParticipantSecond = try figures.number(after: "CPU/participant-s ")
    let (heard, lost) = (try figures.number(after: "| heard "), try figures.number(after: " lost "))
    loss = heard > 0 ? lost / (heard + lost) : 1
    packetsPerSecond = try figures.number(after: " each ")
    level = figures.find("| level ")
    if let median = figures.find("delay median ") {
      delay = Delay(
        median: median, lowest: try figures.number(after: " lowest "), highest: try figures.number(after: " highest "),
        heard: Int(try figures.number(after: "| bursts ")),
        sent: Int(try figures.number(after: " of ", from: "| bursts ")))
    }
    if let wraps = figures.find(" wraps ") {
      tones = Tones(
        packets: Int(try figures.number(after: "| packets ")), wraps: Int(wraps),
        gaps: Int(try figures.number(after: " silent ")) + Int(try figures.number(after: " missing ")))
    }
  }
}
