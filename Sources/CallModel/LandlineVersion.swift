/// The one version of everything that is built from this source: the gateway, the command, both client libraries.
///
/// What travels between them has a version of its own, named in the sub-protocol (`landline.v1`) and in its document.
public enum LandlineVersion {
  /// `0.7.0` (Semantic Versioning).
  public static let text = "0.7.0"
}
