/// A currency: three upper-case letters in the manner of ISO 4217. Two currencies never mix in one sum.
public struct Currency: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The letters, packed big-endian into the low 24 bits.
  private let packed: UInt32

  /// - Throws: ``InvalidValue`` with rule `currency.code` unless `code` is three letters `A` to `Z`.
  public init(_ code: some StringProtocol) throws(InvalidValue) {
    var packed: UInt32 = 0
    var count = 0
    for byte in code.utf8 {
      guard byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z"), count < 3 else {
        throw Currency.refusal(offset: count)
      }
      packed = packed << 8 | UInt32(byte)
      count += 1
    }
    guard count == 3 else { throw Currency.refusal(offset: count) }
    self.packed = packed
  }

  private static func refusal(offset: Int) -> InvalidValue {
    InvalidValue(
      kind: "currency", rule: "currency.code", offset: offset, problem: "a currency is exactly three capital letters",
      accepted: "an ISO 4217 code such as EUR")
  }

  private init(packed: UInt32) { self.packed = packed }

  /// The euro, `EUR`.
  public static let eur = Currency(packed: 0x45_5552)
  /// ISO 4217: no currency is involved.
  public static let none = Currency(packed: 0x58_5858)
  /// The United States dollar, `USD`.
  public static let usd = Currency(packed: 0x55_5344)

  /// The three capital letters: `EUR`.
  public var description: String {
    String(decoding: [UInt8(packed >> 16 & 0xFF), UInt8(packed >> 8 & 0xFF), UInt8(packed & 0xFF)], as: UTF8.self)
  }

  /// By the letters, `EUR` before `USD`.
  public static func < (left: Currency, right: Currency) -> Bool { left.packed < right.packed }
}

/// An amount of money: whole micro-units (10⁻⁶) of one currency. Exact; every operation that could leave the
/// range or mix currencies throws.
public struct Credits: Hashable, Sendable, CustomStringConvertible {
  /// Micro-units in one unit.
  public static let microsPerUnit: Int64 = 1_000_000
  /// Largest magnitude of an amount or a balance, in micro-units: 2⁶² − 1, so that the sum of any two fits `Int64`.
  public static let maximumMicros = MicroUnits((1 << 62) - 1)

  /// Millionths of one unit; may be negative. The magnitude never passes ``maximumMicros``.
  public let micros: MicroUnits
  /// Amounts of two currencies are never added.
  public let currency: Currency

  /// - Throws: ``CreditsError/outOfRange`` when the magnitude passes ``maximumMicros``.
  public init(micros: MicroUnits, _ currency: Currency) throws(CreditsError) {
    guard Credits.isInRange(micros) else { throw .outOfRange }
    self.micros = micros
    self.currency = currency
  }

  private static func isInRange(_ micros: MicroUnits) -> Bool {
    micros.magnitude <= maximumMicros
  }

  /// Nothing, in `currency`: what a sum starts from.
  public static func zero(_ currency: Currency) -> Credits { Credits(unchecked: .zero, currency) }

  private init(unchecked micros: MicroUnits, _ currency: Currency) {
    self.micros = micros
    self.currency = currency
  }

  /// Reads a decimal text with at most six decimals, such as `10` or `-0.015467`.
  /// - Throws: ``InvalidValue`` with the rules of ``DecimalText/parse(_:scale:kind:)``.
  public init(parsing text: some StringProtocol, _ currency: Currency) throws(InvalidValue) {
    let micros = try MicroUnits(parsing: text)
    guard Credits.isInRange(micros) else {
      throw InvalidValue(
        kind: "amount", rule: "amount.range", offset: nil, problem: "the amount is too large",
        accepted: "an amount of at most \(Credits.maximumMicros.decimal)")
    }
    self.init(unchecked: micros, currency)
  }

  /// The exact amount without its currency, at full scale: `14.120000`.
  public var decimal: String { micros.decimal }

  /// `14.120000 EUR`.
  public var description: String { "\(decimal) \(currency)" }

  /// - Throws: ``CreditsError/currencyMismatch(_:_:)`` where the currencies differ, ``CreditsError/outOfRange`` where
  ///   the sum passes ``maximumMicros``.
  public func adding(_ other: Credits) throws(CreditsError) -> Credits {
    guard currency == other.currency else { throw .currencyMismatch(currency, other.currency) }
    return try Credits(micros: micros + other.micros, currency)
  }

  /// May go below zero.
  /// - Throws: As ``adding(_:)``.
  public func subtracting(_ other: Credits) throws(CreditsError) -> Credits {
    try adding(other.negated)
  }

  /// The same amount with the other sign; always fits, as the range is symmetric.
  public var negated: Credits { Credits(unchecked: -micros, currency) }
}

/// How arithmetic on ``Credits`` can fail.
public enum CreditsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The result's magnitude would pass ``Credits/maximumMicros``.
  case outOfRange
  case currencyMismatch(Currency, Currency)

  /// One clause for a message, without a capital letter or a full stop.
  public var description: String {
    switch self {
    case .outOfRange:
      "the amount would pass the largest magnitude, \(Credits.maximumMicros.decimal)"
    case .currencyMismatch(let left, let right): "\(left) and \(right) cannot be added"
    }
  }
}
