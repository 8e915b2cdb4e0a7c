/// A telephone number as people type and paste it, read as the one that would be called.
///
/// Spaces, brackets, dashes, dots and slashes are left out, as are `tel:` (RFC 3966), the `(0)` that some write behind a
/// country code, and marks of text direction; `00` in front is `+`. Nothing is guessed: a number of one country without
/// its code is none.
package enum TypedNumber: Hashable, Sendable {
  case number(E164Number)
  case emergency(EmergencyNumber)
  /// `position` in UTF-16 units of the text, as browsers count.
  case problem(message: String, accepted: String, position: Int?)

  /// Most bytes of a text that is looked at.
  package static let maximumBytes = 128

  package static let accepted = "+, a country code and the number, such as +46 70 123 45 67"

  /// - Parameter emergencyCodes: what is an emergency number where the caller is.
  package init(_ text: String, emergencyCodes: Set<String> = EmergencyNumber.known) {
    var reader = Reader()
    if let problem = reader.read(text) {
      self = problem
    } else {
      self = TypedNumber.finish(reader, emergencyCodes)
    }
  }

  private struct Reader {
    /// `+` and digits.
    var text = ""
    /// Where each of them stood.
    var places: [Int] = []

    /// - Returns: what is wrong with the first character that belongs to no number.
    mutating func read(_ whole: String) -> TypedNumber? {
      let scalars = Array(whole.unicodeScalars)
      var index = 0
      var place = 0
      func isNext(_ texts: Unicode.Scalar...) -> Bool {
        index + texts.count <= scalars.count && zip(scalars[index...], texts).allSatisfy { $0 == $1 }
      }
      while let first = scalars[index...].first, TypedNumber.isLeftOut(first) {
        place += first.utf16.count
        index += 1
      }
      if scalars.count - index >= 4,
        String(String.UnicodeScalarView(scalars[index..<index + 4])).lowercased() == "tel:"
      {
        index += 4
        place += 4
      }
      while index < scalars.count {
        let scalar = scalars[index]
        if isNext("(", "0", ")"), text.hasPrefix("+") || text.hasPrefix("00") {
          index += 3
          place += 3
          continue
        }
        if let plain = TypedNumber.plain(scalar) {
          text.unicodeScalars.append(plain)
          places.append(place)
        } else if !TypedNumber.isLeftOut(scalar) {
          let isShown = scalar.properties.isAlphabetic || (scalar.isASCII && scalar.value > 0x20 && scalar.value < 0x7F)
          let name = isShown ? "'\(Character(scalar))'" : "a character that is not seen"
          return .problem(
            message: "\(name) is no part of a telephone number", accepted: TypedNumber.accepted, position: place)
        }
        place += scalar.utf16.count
        index += 1
      }
      return nil
    }
  }

  private static func finish(_ reader: Reader, _ emergencyCodes: Set<String>) -> TypedNumber {
    var (text, places) = (reader.text, reader.places)
    if text.isEmpty { return .problem(message: "there is no digit", accepted: accepted, position: nil) }
    if let emergency = try? EmergencyNumber(text, among: emergencyCodes) { return .emergency(emergency) }
    if (try? EmergencyNumber(text)) != nil {
      return .problem(message: "it is no emergency number here", accepted: accepted, position: nil)
    }
    if text.hasPrefix("00") {
      text = "+" + text.dropFirst(2)
      places.removeFirst()
    } else if !text.hasPrefix("+"), let value = UInt64(text), TestNumber(rawValue: value) != nil {
      text = "+" + text
      places.insert(places[0], at: 0)
    }
    do throws(InvalidValue) {
      return .number(try E164Number(text))
    } catch {
      let problem = text.hasPrefix("+") ? error.problem : "the country code is missing: the number must begin with '+'"
      return .problem(
        message: problem, accepted: accepted,
        position: error.offset.map { places.indices.contains($0) ? places[$0] : places[places.count - 1] })
    }
  }

  /// A digit or plus, of full width as well.
  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "+", "0"..."9": scalar
    case "\u{FF0B}": "+"
    case "\u{FF10}"..."\u{FF19}": Unicode.Scalar(scalar.value - 0xFF10 + 0x30)
    default: nil
    }
  }

  /// What only helps the eye.
  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case " ", "\t", "-", ".", "(", ")", "/", "\u{A0}", "\u{3000}", "\u{FEFF}", "\u{2212}", "\u{FF0D}", "\u{FF08}",
      "\u{FF09}":
      true
    // Spaces and direction marks, hyphens, and the directions that pasted text brings.
    case "\u{2000}"..."\u{2015}", "\u{202A}"..."\u{202F}", "\u{2060}"..."\u{2069}": true
    default: false
    }
  }
}
