/// What `landline serve` was asked beyond the configuration's file.
package struct ServeOptions: Sendable {
  /// `--config`.
  package var configuration: String?
  /// `--state`, `--http-bind`, `--node`, `--log-level`, `--log-format`: stand above the file.
  package var flags: [String: String]
  /// Reads the configuration, says what is in it, and ends.
  package var isCheckOnly: Bool

  package init(configuration: String?, flags: [String: String] = [:], isCheckOnly: Bool = false) {
    self.configuration = configuration
    self.flags = flags
    self.isCheckOnly = isCheckOnly
  }
}
