/// The two sides of a bridged call.
public enum CallLeg: String, Hashable, Sendable, CaseIterable {
  case app
  case trunk
}
