/// Why a ``Resolver`` could not be made.
public enum ResolverError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The system has no descriptor to spare, or the library cannot start.
  case library(String)
  /// The servers of the configuration are not accepted.
  case servers(String)

  /// What is wrong and, for servers, what is accepted.
  public var description: String {
    switch self {
    case .library(let text): "the DNS library failed: \(text)"
    case .servers(let text): "the name servers are not usable: \(text); accepted: numeric addresses with a port"
    }
  }
}
