import CLandlineCares

/// DNS for RFC 3263 on c-ares.
public enum Resolver {
  static var libraryVersion: String { String(cString: ares_version(nil)) }
}
