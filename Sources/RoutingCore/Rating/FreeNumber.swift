public import CallModel

/// A number that is called for nothing and never refused by a price.
public enum FreeNumber: String, Hashable, Sendable, CaseIterable {
  case emergency
  case test

  /// What a dialled text is, before any deck or number plan sees it; `nil` for an ordinary number.
  ///
  /// - Parameter codes: emergency codes of the countries served; they are dialled without `+`.
  public init?(dialled text: String, emergencyCodes codes: Set<String> = EmergencyNumber.everywhere) {
    if (try? EmergencyNumber(text, among: codes)) != nil {
      self = .emergency
    } else if (try? E164Number(text.hasPrefix("+") ? text : "+" + text))?.testNumber != nil {
      self = .test
    } else {
      return nil
    }
  }
}
