/// What a device says of itself when it registers, beside who it is.
public struct DeviceProfile: Hashable, Sendable {
  /// Parts of the protocol that came after its first version and that the app understands. Nothing of a part is sent to an
  /// app that does not name it, so an older app never meets an event that it does not know.
  public var features: Set<AppFeature>
  /// Whether calls for the user ring here; the app may change it with ``AppRequest/listen(_:)``.
  public var isListening: Bool
  /// Shown to whoever this user calls, at most 255 bytes; empty for none.
  public var name: String
  /// Instead of the application's rule; `nil` for that one.
  public var busyRule: BusyRule?

  /// Without features, a device of the protocol's first version: it can call and is never called.
  public init(
    features: Set<AppFeature> = [], isListening: Bool = false, name: String = "", busyRule: BusyRule? = nil
  ) {
    self.features = features
    self.isListening = isListening
    self.name = name
    self.busyRule = busyRule
  }
}

/// A part of the protocol that an app may lack, with its version. Words that the gateway does not know are left out.
public enum AppFeature: String, Hashable, Sendable, CaseIterable {
  /// Calls for the user: ``AppEvent/incoming(_:_:)`` and what follows.
  case incoming = "incoming.1"
  /// Who is in a conference and who speaks: ``AppEvent/members(_:_:)`` and ``AppEvent/speakers(_:_:)``.
  case rooms = "rooms.1"
}

/// What a call for a user does where a device of the user is in a call.
public enum BusyRule: String, Hashable, Sendable, CaseIterable {
  /// A device in a call does not ring; where no other is left, the user is busy.
  case device
  /// It rings, and is told that the call waits.
  case waiting
  /// The user is busy as soon as one device is in a call.
  case user
}
