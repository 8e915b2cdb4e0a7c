/// Where a call's story is read, and how much of it is shown.
package struct StoryOptions: Sendable {
  /// `--control`: the socket of the gateway to ask.
  package var control: String?
  /// `--environment`, where a gateway has several.
  package var environment: String?
  /// Whether telephone numbers are hidden.
  package var isMasked: Bool

  package init(control: String? = nil, environment: String? = nil, isMasked: Bool = false) {
    self.control = control
    self.environment = environment
    self.isMasked = isMasked
  }
}
