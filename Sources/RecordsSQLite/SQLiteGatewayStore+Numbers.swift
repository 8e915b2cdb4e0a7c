public import CallEngine
public import CallModel
import Foundation
import LandlineSQLite
import LedgerCore

extension SQLiteGatewayStore: InboundNumberStore {
  /// Ascending by number.
  /// - Throws: ``LedgerUnavailable``; `corrupt` for a row that no version could have written.
  public func numbers(environment: String) async throws -> [InboundNumber] {
    try await readNewest { connection in
      let statement = try connection.statement(
        "SELECT number, account, document FROM inbound_number WHERE environment = $1 ORDER BY number LIMIT $2"
      ).bind(1, environment).bind(2, Int64(InboundNumber.maximumNumbers))
      defer { statement.reset() }
      var rows: [InboundNumber] = []
      while try statement.step() {
        let number = UInt64(clamping: statement.int64(0))
        do {
          let document = try JSONDecoder().decode(InboundNumberDocument.self, from: Data(statement.text(2).utf8))
          rows.append(try document.row(E164Number("+\(number)"), AccountName(unchecked: statement.text(1))))
        } catch {
          throw LedgerUnavailable(.corrupt, "the row of the inbound number +\(number) cannot be read: \(error)")
        }
      }
      return rows
    }
  }

  /// Replaces the row of the same number.
  public func keep(_ number: InboundNumber, environment: String) async throws {
    try number.check()
    try SQLiteGatewayStore.check(environment, kind: "environment")
    if let application = number.application { try SQLiteGatewayStore.check(application, kind: "application key") }
    let document = InboundNumberDocument(number).text
    try await change { connection in
      let count = try connection.statement(
        "SELECT count(*) FROM inbound_number WHERE environment = $1 AND number <> $2"
      ).bind(1, environment).bind(2, Int64(number.number.value))
      defer { count.reset() }
      guard try count.step(), count.int64(0) < Int64(InboundNumber.maximumNumbers) else {
        throw InvalidValue(
          kind: "inbound number", rule: "inbound.table", offset: nil, problem: "the environment has no room for more",
          accepted: "at most \(InboundNumber.maximumNumbers) numbers of an environment")
      }
      try connection.statement(
        """
        INSERT INTO inbound_number(environment, number, account, document) VALUES($1, $2, $3, $4)
        ON CONFLICT(environment, number) DO UPDATE SET account = excluded.account, document = excluded.document
        """
      ).bind(1, environment).bind(2, Int64(number.number.value)).bind(3, number.account.text).bind(4, document).run()
    }
  }

  /// - Returns: `false` where there is no such row.
  public func remove(_ number: E164Number, environment: String) async throws -> Bool {
    try await change { connection in
      try connection.statement("DELETE FROM inbound_number WHERE environment = $1 AND number = $2")
        .bind(1, environment).bind(2, Int64(number.value)).run()
      return connection.changes == 1
    }
  }
}

/// A row as it is kept: JSON that later versions may add to.
struct InboundNumberDocument: Decodable {
  var application: String?
  var active: Bool
  var targets: [Target]
  var noAnswer: Int
  var channels: Int?
  var answersFirst: Bool
  var refusesAnonymous: Bool
  var blocked: [String]
  /// `nil` in rows of earlier versions, and where nothing is recorded.
  var record: String?
  var recordAnnounced: Bool?
  var recordTone: Bool?

  struct Target: Decodable {
    var kind: String
    var text: String
    var ring: Int
    var on: [String]
  }

  init(_ row: InboundNumber) {
    application = row.application
    active = row.isActive
    targets = row.targets.map { target in
      Target(
        kind: target.destination.kind.rawValue, text: InboundNumberDocument.text(target.destination),
        ring: target.ringSeconds, on: target.leadsOn.map(\.rawValue).sorted())
    }
    noAnswer = row.noAnswerStatus
    channels = row.channels
    answersFirst = row.answersFirst
    refusesAnonymous = row.callers.refusesAnonymous
    blocked = row.callers.blocked
    record = row.recording?.format.rawValue
    recordAnnounced = row.recording?.isAnnounced
    recordTone = row.recording?.hasTone
  }

  /// A SIP address with its scheme: a secure one stays so.
  private static func text(_ destination: Destination) -> String {
    if case .sip(let address) = destination { return address.uri }
    return destination.text
  }

  func row(_ number: E164Number, _ account: AccountName) throws -> InboundNumber {
    let rules = try UserID.Rules(maximumLength: UserID.Rules.largestMaximumLength)
    let row = InboundNumber(
      number, application: application, account: account, isActive: active,
      targets: try targets.map { target in
        guard let kind = Destination.Kind(rawValue: target.kind) else {
          throw InvalidValue(
            kind: "inbound number", rule: "inbound.target", offset: nil, problem: "a target is of an unknown kind",
            accepted: "user, phone, sip or conference")
        }
        return InboundNumber.Target(
          try Destination(kind, target.text, userRules: rules, emergencyCodes: []), ringSeconds: target.ring,
          // An outcome of a later version leads nowhere in this one.
          leadsOn: Set(target.on.compactMap(InboundNumber.Outcome.init)))
      }, noAnswerStatus: noAnswer, channels: channels, answersFirst: answersFirst,
      callers: InboundNumber.Callers(refusesAnonymous: refusesAnonymous, blocked: blocked),
      recording: record.flatMap(RecordingFormat.init).map {
        RecordingOptions($0, isAnnounced: recordAnnounced ?? true, hasTone: recordTone ?? false)
      })
    try row.check()
    return row
  }

  /// JSON with the names of the properties; what has no value is left out.
  var text: String {
    var writer = JSONWriter()
    writer.object { writer in
      writer.optional("application", application)
      writer.member("active", active)
      writer.array("targets", targets) { writer, target in
        writer.object {
          $0.member("kind", target.kind)
          $0.member("text", target.text)
          $0.member("ring", target.ring)
          $0.array("on", target.on) { $0.string($1) }
        }
      }
      writer.member("noAnswer", noAnswer)
      writer.optional("channels", channels)
      writer.member("answersFirst", answersFirst)
      writer.member("refusesAnonymous", refusesAnonymous)
      writer.array("blocked", blocked) { $0.string($1) }
      writer.optional("record", record)
      if let recordAnnounced { writer.member("recordAnnounced", recordAnnounced) }
      if let recordTone { writer.member("recordTone", recordTone) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
