import CallModel

/// What somebody typed to name a call: its id, the beginning of one, or `last`.
enum CallIDText: Hashable, Sendable {
  case last
  case whole(CallID)
  /// In lower case.
  case beginning(String)

  /// Fewer characters than this are no beginning of an id.
  static let shortestBeginning = 4
  /// Characters of a UUID (RFC 9562), and of the older ids: capitals and digits.
  private static let length = 36
  private static let olderLength = 26

  /// - Returns: `nil` for what can be no id.
  init?(_ text: String) {
    if text.lowercased() == "last" {
      self = .last
      return
    }
    let isID = text.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    guard isID, (Self.shortestBeginning...Self.length).contains(text.utf8.count) else { return nil }
    if text.utf8.count == Self.length, let call = CallID(text.lowercased()) {
      self = .whole(call)
    } else if text.utf8.count == Self.olderLength, !text.contains("-"), let call = CallID(text.uppercased()) {
      self = .whole(call)
    } else {
      self = .beginning(text.lowercased())
    }
  }

  /// Whether a call with this id is meant.
  func means(_ id: String) -> Bool {
    switch self {
    case .last: true
    case .whole(let call): call.text == id
    case .beginning(let text): id.lowercased().hasPrefix(text)
    }
  }
}
