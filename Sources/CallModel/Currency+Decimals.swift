extension Currency {
  /// Decimals of the currency's smallest coin (ISO 4217): 2 for most, and for those that are not known.
  public var decimals: Int { Currency.otherDecimals["\(self)"] ?? 2 }

  private static let otherDecimals: [String: Int] = {
    let none = [
      "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF",
      "XPF",
    ]
    let three = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
    let four = ["CLF", "UYW"]
    return Dictionary(
      uniqueKeysWithValues: none.map { ($0, 0) } + three.map { ($0, 3) } + four.map { ($0, 4) })
  }()
}

extension Credits {
  /// For people: exact, with the currency's own decimals and more only where they say something: `0.00 EUR`,
  /// `0.0145 EUR`, `12 JPY`.
  public var readable: String {
    var text = decimal
    let fewest = currency.decimals
    var decimals = MicroUnits.scale
    while decimals > fewest, text.hasSuffix("0") {
      text.removeLast()
      decimals -= 1
    }
    if text.hasSuffix(".") { text.removeLast() }
    return "\(text) \(currency)"
  }
}
