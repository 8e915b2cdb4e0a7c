/// As which app a command comes to a gateway, as written.
package struct AppOptions: Sendable {
  /// `LANDLINE_URL` where `nil`.
  package var url: String?
  /// `LANDLINE_APPLICATION_KEY` where `nil`.
  package var applicationKey: String?
  /// A file whose first line is the secret; `LANDLINE_APPLICATION_SECRET_FILE`, then `LANDLINE_APPLICATION_SECRET`, where
  /// `nil`. Never an argument: those stand in the list of processes.
  package var secretFile: String?
  /// `LANDLINE_USER`, then `cli`, where `nil`.
  package var user: String?
  /// Tells the device from the user's others; named after the command where `nil`.
  package var device: String?
  /// PEM files of authorities, in place of the system's; the file of `LANDLINE_AUTHORITY` where empty.
  package var authorities: [String] = []

  package init() {}
}
