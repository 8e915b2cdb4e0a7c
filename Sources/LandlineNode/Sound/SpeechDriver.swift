package import MediaCore

/// An engine that speaks texts. Gateways that have none play files alone.
package protocol SpeechDriver: Sendable {
  /// - Parameter text: as ``SpokenText`` admits it.
  func speech(_ text: SpokenText) async throws(SpeechFailure) -> PlayableSound
}

/// Words for an engine: printable, and not too many.
package struct SpokenText: Hashable, Sendable {
  /// Characters at most: about half a minute.
  package static let maximumCharacters = 500
  package let text: String

  /// - Returns: `nil` for what is empty, too long, or holds what cannot be spoken.
  package init?(_ text: String) {
    guard (1...SpokenText.maximumCharacters).contains(text.unicodeScalars.count),
      text.unicodeScalars.allSatisfy({
        !$0.properties.isDefaultIgnorableCodePoint && $0.properties.generalCategory != .control
      }),
      text.contains(where: { $0.isLetter || $0.isNumber })
    else { return nil }
    self.text = text
  }
}

/// Why a text was not spoken.
package struct SpeechFailure: Error, Hashable, Sendable {
  package let problem: String
  /// The engine speaks other texts.
  package let isBusy: Bool

  package init(_ problem: String, isBusy: Bool = false) {
    self.problem = problem
    self.isBusy = isBusy
  }
}
