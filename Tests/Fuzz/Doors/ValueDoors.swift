import CallModel

/// Values that people and apps write.
enum ValueDoors {
  static let all = [
    FuzzDoor("number", "a telephone number", dictionary: "number", maximumBytes: 128, number),
    FuzzDoor("destination", "kind, then who is called", dictionary: "number", maximumBytes: 1200, destination),
    FuzzDoor("sip-text-address", "a SIP address as people write it", dictionary: "sip", maximumBytes: 1200, address),
    FuzzDoor("custom-headers", "lines of names and values", dictionary: "sip", maximumBytes: 2048, headers),
    FuzzDoor("decimal", "an amount", dictionary: "number", maximumBytes: 64, decimal),
    FuzzDoor("rate-snapshot", "the stored price of a call", dictionary: "tariff", maximumBytes: 2048, snapshot),
    FuzzDoor("record-name", "names of accounts, nodes and trunks", dictionary: "number", maximumBytes: 300, names),
  ]

  private static func number(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let number = try? E164Number(text) else { return }
    let written = number.description
    try promise((try? E164Number(written)) == number, "\(written) is another number")
    try promise(E164Number.hasSyntax(written), "\(written) has no syntax")
    let shown = number.masked
    try promise(!shown.contains(written.dropFirst(4)), "\(shown) shows the number")
  }

  private static func destination(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first else { return }
    let kind = Destination.Kind.allCases[Int(first) % Destination.Kind.allCases.count]
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    guard let destination = try? Destination(kind, text) else { return }
    try promise((try? Destination(kind, text)) == destination, "two readings")
    _ = "\(destination)"
  }

  private static func address(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let address = try? SIPAddress(text) else { return }
    let written = "\(address)"
    try promise((try? SIPAddress(written)) == address, "\(written) is another address")
    try promise(!written.utf8.contains { $0 < 0x21 || $0 == 0x7F }, "a blank or control byte in \(written)")
    try promise(address.user.utf8.count <= SIPAddress.maximumUserLength, "a user that is too long")
  }

  /// No line end leaves, the budget holds, names stand once.
  private static func headers(_ input: [UInt8]) throws(BrokenPromise) {
    var headers = CustomHeaders()
    for line in input.split(separator: 0x0A).prefix(64) {
      let pair = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
      let (name, value) = (pair[0], pair.count > 1 ? pair[1] : [])
      let count = headers.count
      do {
        try headers.append(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        try promise(headers.count == count + 1, "nothing was added")
      } catch let error as InvalidValue {
        try promise(headers.count == count && error.failureCode == .header, "a refused header stays")
      } catch let broken as BrokenPromise {
        throw broken
      } catch {}
    }
    try promise(headers.byteCount <= CustomHeaders.maximumBytes, "\(headers.byteCount) bytes")
    for field in headers {
      let bytes = Array((field.name + field.value).utf8)
      try promise(!bytes.contains { $0 < 0x20 || $0 == 0x7F }, "a control byte leaves")
      try promise(headers[field.name.uppercased()] == field.value, "a name is not found")
    }
    let again = try? CustomHeaders(headers.map { (name: $0.name, value: $0.value) })
    try promise(again == headers, "the same headers are others")
  }

  private static func decimal(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    for scale in [0, 3, 6, 9] {
      guard let value = try? DecimalText.parse(text, scale: scale) else { continue }
      let written = DecimalText.format(value, scale: scale)
      try promise((try? DecimalText.parse(written, scale: scale)) == value, "\(written) is another value")
    }
    guard let credits = try? Credits(parsing: text, .eur) else { return }
    try promise(credits.micros.magnitude <= Credits.maximumMicros, "more than there can be")
    try promise((try? Credits(parsing: credits.decimal, .eur)) == credits, "\(credits.decimal) is another amount")
    try promise(credits.negated.negated == credits, "a sign that stays")
    try promise((try? credits.subtracting(credits)) == .zero(.eur), "no zero")
  }

  /// A stored price that is read prices every duration without overflow, and more time never costs less.
  private static func snapshot(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    guard let snapshot = try? RateSnapshot(parsing: text) else { return }
    try promise(snapshot.text == text, "another text")
    for segment in snapshot.segments {
      var former = MicroUnits.zero
      for seconds in [0, 1, 59, 60, 61, 3600, 86_400] as [Int64] {
        let cost = segment.tariff.cost(seconds: seconds)
        try promise(cost >= former, "\(seconds) s cost \(cost), fewer \(former)")
        former = cost
      }
    }
  }

  private static func names(_ input: [UInt8]) throws(BrokenPromise) {
    let text = String(decoding: input, as: UTF8.self)
    if let name = try? AccountName(validating: text) {
      try promise(name.text == text && AccountName(name.description) == name, "another name")
      try promise(!text.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") }, "a name with \(text)")
    }
    if let name = try? NodeID(validating: text) { try promise(NodeID(name.description) == name, "another name") }
    if let name = try? TrunkName(validating: text) { try promise(TrunkName(name.description) == name, "another name") }
    if let user = try? UserID(text) { try promise((try? UserID("\(user)")) == user, "another user") }
    if let zone = try? CivilZone(text) { try promise((try? CivilZone(zone.identifier)) == zone, "another zone") }
    if let code = try? Currency(text) { try promise((try? Currency(code.description)) == code, "another currency") }
  }
}
