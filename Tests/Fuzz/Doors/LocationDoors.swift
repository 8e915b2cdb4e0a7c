import CallModel
import LandlineResolver
import SIPCore

/// What name servers say.
enum LocationDoors {
  static let all = [
    FuzzDoor("dns-message", "kind of question, then a name server's message", dictionary: "dns", answer),
    FuzzDoor("dns-location", "a URI's line, then what name servers answer", dictionary: "dns", location),
  ]

  private static let name = "example.com"

  private static func answer(_ input: [UInt8]) throws(BrokenPromise) {
    guard let first = input.first else { return }
    let kind = DNSQuestion.Kind.allCases[Int(first) % DNSQuestion.Kind.allCases.count]
    let reading = DNSMessageReader.read(
      [0, 1] + input.dropFirst(), answering: DNSQuestion(kind, first & 0x80 == 0 ? name : "_sip._udp.\(name)"))
    let count =
      switch reading.answer {
      case .naptr(let records): records.count
      case .srv(let records): records.count
      case .addresses(let hosts): hosts.count
      case .notFound, .serverFailure, .timedOut: 0
      }
    try promise(count <= DNSMessageReader.maximumRecords, "\(count) records")
    if let seconds = reading.seconds { try promise((0...Int64(Int32.max)).contains(seconds), "\(seconds) s") }
  }

  /// Names, records and addresses are bounded, and every question is asked once.
  private static func location(_ input: [UInt8]) throws(BrokenPromise) {
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    guard lines.count == 2, let uri = try? SIPURI(parsing: String(decoding: lines[0], as: UTF8.self)) else { return }
    var policy = LocationPolicy(transports: [.udp, .tcp, .tls])
    policy.targets = 8
    let drawn = DrawnNumbers()
    var machine = LocationMachine(uri, policy: policy, identifiers: IdentifierSource { drawn.next() })
    var effects: [LocationEffect] = []
    machine.start(into: &effects)
    var asked: Set<DNSQuestion> = []
    var replies = Array(lines[1])[...]
    var results = 0
    while !effects.isEmpty {
      let taken = effects
      effects = []
      for effect in taken {
        switch effect {
        case .ask(let question):
          try promise(asked.insert(question).inserted, "\(question) is asked again")
          try promise(question.name.utf8.count <= DNSQuestion.maximumNameBytes, "a name that is too long")
          machine.handle(reply(&replies, question), to: question, into: &effects)
        case .finished(let result):
          results += 1
          try promise(result.targets.count <= policy.targets, "\(result.targets.count) targets")
          for target in result.targets {
            try promise(target.address.host.family != nil, "a target without address")
            if uri.scheme == .sips { try promise(target.address.transport == .tls, "sips falls back") }
          }
        }
      }
    }
    try promise(results == 1 && machine.isFinished, "\(results) results")
    try promise(asked.count <= 1 + policy.services + 2 * policy.hosts, "\(asked.count) questions")
  }

  /// Two bytes of length and a message, which lacks what repeats the question.
  private static func reply(_ replies: inout ArraySlice<UInt8>, _ question: DNSQuestion) -> DNSAnswer {
    guard let count = replies.popFirst() else { return .timedOut }
    guard count > 0 else { return .serverFailure }
    let records = Array(replies.prefix(Int(count) * 2))
    replies = replies.dropFirst(records.count)
    var message: [UInt8] = [0, 1, 0x80, 0, 0, 1, 0, UInt8(truncatingIfNeeded: records.first ?? 0) & 15, 0, 0, 0, 0]
    for label in question.name.utf8.split(separator: UInt8(ascii: ".")) {
      message.append(UInt8(truncatingIfNeeded: label.count))
      message += label
    }
    message += [0, 0, UInt8(truncatingIfNeeded: question.kind.type), 0, 1]
    message += records.dropFirst()
    return DNSMessageReader.read(message, answering: question).answer
  }
}
