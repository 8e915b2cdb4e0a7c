public import CallModel

/// Where a call's sound goes. Written to every 20 ms on the client's event loop, so it must not wait.
public protocol AudioSink: Sendable {
  /// One frame of each direction at ``AudioFormat/samplingRate``; what was received is what is to be heard.
  func write(received: [Int16], sent: [Int16], at time: MonotonicInstant)
  /// Whether the sound files that play for the app's own user are mixed into what is received. Without a word: yes.
  var hearsSoundFiles: Bool { get }
  /// The call is over.
  func finish()
}

extension AudioSink {
  /// Holds for a sink that does not say otherwise.
  public var hearsSoundFiles: Bool { true }
  /// Does nothing: a sink may leave the method out.
  public func finish() {}
}

/// Sound that the app uses itself, such as for a loudspeaker.
public struct CallbackSink: AudioSink {
  private let received: @Sendable ([Int16]) -> Void

  /// - Parameter received: Takes a frame of what comes from the other side every 20 ms; must not wait.
  public init(_ received: @escaping @Sendable ([Int16]) -> Void) { self.received = received }

  /// Passes on what was received; what was sent is not used.
  public func write(received: [Int16], sent: [Int16], at time: MonotonicInstant) { self.received(received) }
}
