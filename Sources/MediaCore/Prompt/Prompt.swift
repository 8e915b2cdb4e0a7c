/// Something the gateway says itself.
public enum Prompt: String, Hashable, Sendable, CaseIterable {
  /// "The call is connected. This is the free test number of your telephone gateway."
  case connected
  /// "Goodbye."
  case goodbye
  /// "Press zero to end this call."
  case pressZero = "press-zero"
  /// "This message comes before the call is answered. The call will now be rejected."
  case early
  /// "Whatever you say now comes back to you."
  case echo
  /// "You hear this message, but nobody hears you."
  case oneWay = "one-way"
  /// "This call will now be cut off, as if the line had failed."
  case cut
  /// "Every fiftieth packet of this message is lost. It should still be easy to understand."
  case loss
  /// "This call is being recorded."
  case recorded
}
