import CallModel
import SIPCore
import Synchronization

/// The answers that one table row gives, and what the machine asked.
struct Zone {
  var records: [DNSQuestion: DNSAnswer]
  /// What every other question gets.
  var otherwise = DNSAnswer.notFound

  /// Rows such as `A sip.example.com = 192.0.2.1 192.0.2.2`.
  ///
  /// - `NAPTR name = order preference flags services replacement, …`
  /// - `SRV name = priority weight port target, …`
  /// - `… = fails` and `… = silent`
  init(_ rows: String...) throws {
    records = [:]
    for row in rows {
      let halves = row.split(separator: "=", maxSplits: 1).map { $0.split(separator: " ").map(String.init) }
      guard halves.count == 2, halves[0].count == 2, let kind = DNSQuestion.Kind(rawValue: halves[0][0].lowercased())
      else { throw BadRow(row: row) }
      let question = DNSQuestion(kind, halves[0][1])
      let text = row.drop { $0 != "=" }.dropFirst()
      let records = text.split(separator: ",").map { $0.split(separator: " ").map(String.init) }
      switch (halves[1].first, kind) {
      case ("fails", _): self.records[question] = .serverFailure
      case ("silent", _): self.records[question] = .timedOut
      case (_, .a), (_, .aaaa): self.records[question] = .addresses(try halves[1].map(host))
      case (_, .srv):
        self.records[question] = .srv(
          try records.map { fields in
            guard fields.count == 4, let priority = UInt16(fields[0]), let weight = UInt16(fields[1]),
              let port = UInt16(fields[2])
            else { throw BadRow(row: row) }
            return SRVRecord(priority: priority, weight: weight, port: port, target: fields[3])
          })
      case (_, .naptr):
        self.records[question] = .naptr(
          try records.map { fields in
            guard fields.count == 5, let order = UInt16(fields[0]), let preference = UInt16(fields[1]) else {
              throw BadRow(row: row)
            }
            return NAPTRRecord(
              order: order, preference: preference, flags: fields[2], services: fields[3], replacement: fields[4])
          })
      }
    }
  }

  struct BadRow: Error {
    let row: String
  }
}

func host(_ text: String) throws -> SIPHost { try SIPAddress("x@" + (text.contains(":") ? "[\(text)]" : text)).host }

/// A URI of a table row: `sips:example.com:5070;transport=tcp`.
func uri(_ text: String) throws -> SIPURI {
  let parts = text.split(separator: ";").map(String.init)
  let head = parts[0].split(separator: ":", maxSplits: 1).map(String.init)
  guard head.count == 2, let scheme = SIPURI.Scheme(rawValue: head[0]) else { throw Zone.BadRow(row: text) }
  if scheme == .tel { return SIPURI(scheme: .tel, user: head[1], host: nil) }
  let address = try SIPAddress("x@" + head[1])
  let parameters = parts.dropFirst().map { part in
    let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
    return SIPParameter(pair[0], pair.count > 1 ? pair[1] : nil)
  }
  return SIPURI(scheme: scheme, user: "x", host: address.host, port: address.port, parameters: parameters)
}

/// Runs a machine against a zone. Targets read `udp 192.0.2.1:5060` and, with a server name, `tls … as example.com`.
func locate(
  _ text: String, in zone: Zone, policy: LocationPolicy = LocationPolicy(transports: [.udp, .tcp, .tls]),
  seed: UInt64 = 1
) throws -> (result: LocationResult, asked: [String]) {
  var machine = LocationMachine(try uri(text), policy: policy, identifiers: seededIdentifiers(seed))
  var effects: [LocationEffect] = []
  var asked: [String] = []
  machine.start(into: &effects)
  while !effects.isEmpty {
    let effect = effects.removeFirst()
    switch effect {
    case .ask(let question):
      asked.append(question.description)
      machine.handle(zone.records[question] ?? zone.otherwise, to: question, into: &effects)
    case .finished(let result):
      guard effects.isEmpty, machine.isFinished else { throw Zone.BadRow(row: "effects after the result") }
      return (result, asked)
    }
  }
  throw Zone.BadRow(row: "no result for \(text)")
}

func written(_ result: LocationResult) -> [String] {
  switch result {
  case .failed(let failure): ["\(failure.kind)"]
  case .found(let targets):
    targets.map { target in
      "\(target.address.transport) \(target.address.host):\(target.address.port)"
        + (target.serverName.map { " as \($0)" } ?? "")
    }
  }
}

/// SplitMix64 behind the door that a core draws from.
func seededIdentifiers(_ seed: UInt64) -> IdentifierSource {
  let state = SharedState(seed)
  return IdentifierSource { state.next() }
}

private final class SharedState: Sendable {
  private let state: Mutex<UInt64>

  init(_ seed: UInt64) { state = Mutex(seed) }

  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = state
      value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }
}
