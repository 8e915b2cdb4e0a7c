package import CallModel
import LedgerCore

/// Values out of the texts of a command line; every refusal names the argument.
package enum Arguments {
  package static func name<Name: LedgerName>(_ text: String, _ argument: String, as type: Name.Type = Name.self) throws
    -> Name
  {
    try value(argument) { () throws(InvalidValue) in try Name(validating: text) }
  }

  static func value<Value>(_ argument: String, _ parse: () throws(InvalidValue) -> Value) throws -> Value {
    do throws(InvalidValue) { return try parse() } catch { throw ConsoleError(error, in: argument) }
  }

  /// A telephone number as people write it: `+46 70-123 45 67`, `0046…`, `tel:+46…`.
  static func number(_ text: String, _ argument: String) throws -> E164Number {
    switch TypedNumber(text) {
    case .number(let number): return number
    case .emergency(let number):
      throw ConsoleError.usage(
        "number.emergency", "number: \(number.code) is an emergency number", at: argument, fix: TypedNumber.accepted)
    case .problem(let message, let accepted, let position):
      throw ConsoleError.usage(
        "number", "number: \(message)", at: argument + (position.map { ", character \($0 + 1)" } ?? ""), fix: accepted)
    }
  }

  /// A whole number as it would be dialled, `+46701234567`; any other text, such as a prefix, as it is.
  static func dialled(_ text: String) -> String {
    if text.utf8.count <= TypedNumber.maximumBytes, case .number(let number) = TypedNumber(text) {
      "\(number)"
    } else {
      text
    }
  }

  static func currency(_ text: String, _ argument: String = "--currency") throws -> Currency {
    try value(argument) { () throws(InvalidValue) in try Currency(text) }
  }

  /// An amount above zero.
  static func positiveAmount(_ text: String, _ currency: Currency, _ argument: String = "AMOUNT") throws -> Credits {
    let amount = try amount(text, currency, argument)
    guard amount.micros > .zero else {
      throw ConsoleError.usage(
        "amount.positive", "amount: \(amount.micros == .zero ? "zero" : "a negative amount") moves nothing here",
        at: argument, fix: "an amount above zero such as 12.50")
    }
    return amount
  }

  static func amount(_ text: String, _ currency: Currency, _ argument: String = "AMOUNT") throws -> Credits {
    try value(argument) { () throws(InvalidValue) in try Credits(parsing: text, currency) }
  }

  /// An amount from 0 up, of any currency.
  static func limit(_ text: String, _ argument: String) throws -> MicroUnits {
    let micros = try amount(text, .eur, argument).micros
    guard micros >= .zero else {
      throw ConsoleError.usage("amount.negative", "amount: a limit is not negative", at: argument, fix: "0 or more")
    }
    return micros
  }

  /// The number of a transfer.
  static func sequence(_ text: String, _ argument: String = "SEQ") throws -> Int64 {
    guard let value = Int64(text), value > 0 else {
      throw ConsoleError.usage(
        "seq.number", "sequence number: \(text.isEmpty ? "nothing is there" : "not a positive whole number")",
        at: argument,
        fix: "a number from the first column of landline history")
    }
    return value
  }

  static func free(_ text: String, _ argument: String) throws -> String {
    guard text.utf8.count <= LedgerOperation.maximumDetailBytes else {
      throw ConsoleError.usage(
        "text.long", "text: more than \(LedgerOperation.maximumDetailBytes) bytes", at: argument, fix: "a shorter text")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw ConsoleError.usage(
        "text.character", "text: a control character", at: argument, fix: "one line of plain text")
    }
    return text
  }
}
