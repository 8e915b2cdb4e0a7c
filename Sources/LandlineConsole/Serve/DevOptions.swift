/// What `landline dev` was asked.
package struct DevOptions: Sendable {
  /// Folder of its files; `nil` for one in the user's state directory.
  package var state: String?
  /// Port of the web and app door on 127.0.0.1; 0 for any.
  package var port: UInt16
  /// Where calls to ordinary numbers go; `nil` for the built-in far end.
  package var trunk: String?
  /// Origins of web pages that may connect besides those of this machine.
  package var origins: [String]
  /// Calls this target as soon as the gateway runs, and ends with it.
  package var call: String?
  /// Serves the web pages from this folder in place of the built-in ones.
  package var pages: String?
  /// Forgets what an earlier run left.
  package var isFresh: Bool

  package init(
    state: String?, port: UInt16, trunk: String?, origins: [String] = [], call: String?, pages: String? = nil,
    isFresh: Bool
  ) {
    self.state = state
    self.port = port
    self.trunk = trunk
    self.origins = origins
    self.call = call
    self.pages = pages
    self.isFresh = isFresh
  }
}
