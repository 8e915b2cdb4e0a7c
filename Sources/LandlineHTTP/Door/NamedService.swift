public import ServiceLifecycle

/// A service that a group's log calls by the name of its type. Otherwise the group writes out all that the service holds,
/// keys included, before it starts.
public protocol NamedService: Service, CustomStringConvertible {}

extension NamedService {
  /// The type's name.
  public var description: String { "\(Self.self)" }
}
