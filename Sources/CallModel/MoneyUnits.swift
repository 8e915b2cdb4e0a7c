/// A whole number of some small part of a currency's unit. Each kind is a type of its own, so that amounts of two kinds
/// cannot be added or compared by mistake; ``Credits`` is the amount that knows its currency.
///
/// Sums and differences trap on overflow, as those of integers do: whoever reads amounts from outside checks their range
/// (``Credits/maximumMicros``, ``Tariff/maximumPrice``).
public protocol MoneyUnits: AdditiveArithmetic, Comparable, Hashable, Sendable, Codable, CustomStringConvertible,
  ExpressibleByIntegerLiteral
where IntegerLiteralType == Int64 {
  /// How many of them; may be negative.
  var count: Int64 { get set }
  init(_ count: Int64)
}

extension MoneyUnits {
  @inlinable
  public init(integerLiteral value: Int64) { self.init(value) }

  /// A whole number in JSON.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }

  /// Nothing.
  @inlinable
  public static var zero: Self { Self(0) }
  /// More than any amount: no limit.
  @inlinable
  public static var max: Self { Self(.max) }

  /// For amounts that may be anything, such as those of a database that was tampered with.
  public func addingReportingOverflow(_ other: Self) -> (partialValue: Self, overflow: Bool) {
    let (sum, overflow) = count.addingReportingOverflow(other.count)
    return (Self(sum), overflow)
  }

  /// Without its sign; the least of all amounts has the greatest.
  public var magnitude: Self { Self(Int64(clamping: count.magnitude)) }

  /// Less than any amount: no floor.
  @inlinable
  public static var min: Self { Self(.min) }

  /// The number alone, without unit or decimal point.
  public var description: String { "\(count)" }

  @inlinable
  public static func + (left: Self, right: Self) -> Self { Self(left.count + right.count) }
  @inlinable
  public static func - (left: Self, right: Self) -> Self { Self(left.count - right.count) }
  @inlinable
  public static prefix func - (amount: Self) -> Self { Self(-amount.count) }
  /// So many times the amount.
  @inlinable
  public static func * (amount: Self, times: Int64) -> Self { Self(amount.count * times) }
  /// An equal share, rounded towards zero.
  @inlinable
  public static func / (amount: Self, shares: Int64) -> Self { Self(amount.count / shares) }
  @inlinable
  public static func < (left: Self, right: Self) -> Bool { left.count < right.count }
}

/// Units that are a power of ten of a currency's unit, and so have a text with a decimal point.
public protocol DecimalMoneyUnits: MoneyUnits {
  /// Decimal places of one unit of the currency.
  static var scale: Int { get }
}

extension DecimalMoneyUnits {
  /// Reads a decimal text with at most ``scale`` decimals.
  /// - Parameter kind: What the text is, for the refusal.
  /// - Throws: ``InvalidValue`` with the rules of ``DecimalText/parse(_:scale:kind:)``.
  public init(parsing text: some StringProtocol, kind: String = "amount") throws(InvalidValue) {
    self.init(try DecimalText.parse(text, scale: Self.scale, kind: kind))
  }

  /// As people read it, without a currency: at least two decimals, and no zeros behind them: `0.0145`.
  public var brief: String { DecimalText.brief(count, scale: Self.scale) }
  /// With all its decimals, without a currency: `0.014500`.
  public var decimal: String { DecimalText.format(count, scale: Self.scale) }
}

/// Micro-units: millionths (10⁻⁶) of a currency's unit. What ledgers hold and calls cost.
@frozen
public struct MicroUnits: DecimalMoneyUnits {
  public var count: Int64
  @inlinable
  public init(_ count: Int64) { self.count = count }

  public static var scale: Int { 6 }
}

/// Nano-units: 10⁻⁹ of a currency's unit. What prices are written in: a minute, a connection, a least and a most.
@frozen
public struct NanoUnits: DecimalMoneyUnits {
  public var count: Int64
  @inlinable
  public init(_ count: Int64) { self.count = count }

  public static var scale: Int { 9 }

  /// The next whole micro-unit: as apps and explanations are told.
  public var roundedUp: MicroUnits { MicroUnits((count + 999) / 1000) }
  /// What so many seconds cost at this price a minute, exactly.
  public func cost(ofSeconds seconds: Int64) -> NanoSixtieths { NanoSixtieths(count * seconds) }
  /// Exactly the same amount.
  public var sixtieths: NanoSixtieths { NanoSixtieths(count * 60) }
}

/// Sixtieths of a nano-unit: what a second costs at a price a minute is a whole number of them. A cost is exact in them
/// until it is rounded, once, to micro-units.
@frozen
public struct NanoSixtieths: MoneyUnits {
  public var count: Int64
  @inlinable
  public init(_ count: Int64) { self.count = count }
}
