import CallModel

/// What somebody typed to name a call: its id, the beginning of one, or `last`.
enum CallIDText: Hashable, Sendable {
  case last
  case whole(CallID)
  /// In lower case.
  case beginning(String)

  /// Fewer characters than this are no beginning of an id.
  static let shortestBeginning = 4
  /// Characters of an id: of the older ones without hyphens, and of a UUID (RFC 9562).
  private static let lengths = [26, 36]

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
    guard isID, text.utf8.count >= Self.shortestBeginning, let longest = Self.lengths.max(), text.utf8.count <= longest
    else { return nil }
    if Self.lengths.contains(text.utf8.count), let call = CallID(text) {
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
