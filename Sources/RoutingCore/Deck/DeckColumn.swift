/// The columns of a rate deck by their canonical names, with the other names that decks in the field give them.
public enum DeckColumn: String, Hashable, Sendable, CaseIterable {
  case prefix
  case name
  case currency
  case rate
  /// Seconds that the rate is for; 60 where the column is missing.
  case unit
  case fee
  case initial
  case increment
  case grace
  case minimumCharge = "min_charge"
  case freeSeconds = "free_seconds"
  case effectiveFrom = "effective_from"
  case effectiveTo = "effective_to"
  case timeClass = "time_class"
  case fromSecond = "from_second"
  case maximumSeconds = "max_seconds"
  case maximumCost = "max_cost"
  case flags
  /// Rate of the initial increment where the later ones have their own: two tiers.
  case initialRate = "initial_rate"
  /// Rate after the initial increment.
  case nextRate = "next_rate"
  /// `true` refuses the destination: the flag `blocked` as a column.
  case rejectCalls = "reject_calls"

  /// The columns that ``DeckWriter`` writes, in its order.
  static let written: [DeckColumn] = [
    .prefix, .name, .currency, .rate, .unit, .fee, .initial, .increment, .grace, .minimumCharge, .freeSeconds,
    .effectiveFrom, .effectiveTo, .timeClass, .fromSecond, .maximumSeconds, .maximumCost, .flags,
  ]

  /// Other names, normalised: small letters and digits only.
  private var aliases: [String] {
    switch self {
    case .prefix: ["code", "dialprefix", "dialcode", "dialingcode", "diallingcode", "destinationprefix", "areacode"]
    case .name: ["destination", "destinationname", "description"]
    case .currency: ["currencycode"]
    case .rate:
      [
        "rateperminute", "ratepermin", "ratemin", "costmin", "costpermin", "costperminute", "cost", "price",
        "priceperminute", "pricepermin", "pricemin", "rateinitial", "sellrate", "buyrate",
      ]
    case .unit: ["rateunit", "unitseconds", "per"]
    case .fee:
      [
        "connectionfee", "connectfee", "connectioncost", "connectcost", "connectcharge", "connectioncharge", "setupfee",
      ]
    case .initial: ["initialincrement", "initialinterval", "initblock", "firstincrement", "firstinterval"]
    case .increment:
      [
        "nextincrement", "nextinterval", "incrementseconds", "billingblock", "billingincrement", "subsequentincrement",
        "rateincrement",
      ]
    case .grace: ["gracetime", "graceseconds", "graceperiod"]
    case .minimumCharge: ["minimumcharge", "minimalcost", "minimumcost", "mincost", "minimalcharge"]
    case .freeSeconds: ["includedseconds", "freetime"]
    case .effectiveFrom: ["effectivedate", "startdate", "validfrom", "activationdate", "activationtime", "effective"]
    case .effectiveTo: ["effectiveuntil", "effectivetill", "stopdate", "enddate", "validtill", "validto", "validuntil"]
    case .timeClass: ["timing", "timetag", "class"]
    case .fromSecond: ["tier", "tierstart", "tierfrom", "fromseconds", "groupintervalstart"]
    case .maximumSeconds: ["maximumseconds", "maxduration", "maximumduration", "maxcallseconds"]
    case .maximumCost: ["maximumcost"]
    case .flags: ["flag"]
    case .initialRate: []
    case .nextRate: []
    case .rejectCalls: ["blocked", "reject"]
    }
  }

  /// Small letters and digits of a header's text: case, spaces and punctuation do not count.
  static func normalised(_ text: String) -> String {
    var result: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x41...0x5A: result.append(byte + 0x20)
      case 0x61...0x7A, 0x30...0x39: result.append(byte)
      default: break
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static let byNormalisedName: [String: DeckColumn] = {
    var result: [String: DeckColumn] = [:]
    for column in allCases {
      result[normalised(column.rawValue)] = column
      for alias in column.aliases { result[alias] = column }
    }
    return result
  }()

  /// The column of a header's text.
  static func named(_ text: String) -> DeckColumn? { byNormalisedName[normalised(text)] }

  /// The known name closest to a header's text, when it is close.
  static func suggestion(for text: String) -> DeckColumn? {
    let name = Array(normalised(text).utf8.prefix(40))
    guard !name.isEmpty else { return nil }
    var best: (distance: Int, column: DeckColumn)?
    for (known, column) in byNormalisedName.sorted(by: { $0.key < $1.key }) {
      let distance = editDistance(name, Array(known.utf8))
      if distance < best?.distance ?? .max { best = (distance, column) }
    }
    guard let best, best.distance <= max(1, name.count / 3) else { return nil }
    return best.column
  }

  /// Insertions, removals and replacements that turn one text into the other.
  private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (leftIndex, leftByte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = leftIndex + 1
      for (rightIndex, rightByte) in right.enumerated() {
        let replaced = diagonal + (leftByte == rightByte ? 0 : 1)
        diagonal = row[rightIndex + 1]
        row[rightIndex + 1] = min(replaced, diagonal + 1, row[rightIndex] + 1)
      }
    }
    return row[right.count]
  }
}
