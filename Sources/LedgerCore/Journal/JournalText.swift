package import CallModel

/// Texts as a plain-text journal carries them, for hledger and ledger-cli alike.
package enum JournalText {
  /// A description: one line without a comment's semicolon, a payee's bar, or a leading status or code.
  package static func description(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case ";": out += "%3B"
      case "|": out += "%7C"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: out += " "
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// The value of a tag: nothing in it ends the value, starts a tag or reads as a date.
  package static func tagValue(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case ",", ":", "[", "]", ";": out += "%" + String(scalar.value, radix: 16, uppercase: true)
      case _ where scalar.value < 0x20 || scalar.value == 0x7F: out += " "
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// A price a minute with at least six decimals: `0.014500/60`.
  package static func rate(_ price: NanoUnits) -> String {
    var text = price.decimal
    var spare = NanoUnits.scale - MicroUnits.scale
    while spare > 0, text.last == "0" {
      text.removeLast()
      spare -= 1
    }
    return text + "/60"
  }
}
