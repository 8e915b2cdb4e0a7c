import AppProtocol
import CallEngine
import CallModel
import Foundation
import RecordsSQLite

/// Finding calls by what somebody remembers of them.
extension Console {
  /// Calls that are over and are looked through for the beginning of an id, newest first.
  private static let maximumSearched = 10_000
  private static let maximumNamed = 5

  /// The id that is meant: itself, the only one that begins so, or the newest.
  /// - Throws: ``ConsoleError`` where none or several could be meant.
  func callID(_ text: String, control: String?, environment name: String?) async throws -> CallID {
    guard let meant = CallIDText(text) else { return try Arguments.name(text, "ID") }
    if case .whole(let call) = meant { return call }
    let found = try await calls(meant, control: control, environment: name)
    guard let first = found.first, found.count == 1 || meant == .last else {
      guard !found.isEmpty else {
        throw ConsoleError(
          .notFound, code: "unknownCall", meant == .last ? "there is no call yet" : "no call's id begins so",
          at: meant == .last ? nil : text, fix: "landline calls list, and landline calls list --ended")
      }
      let named = found.prefix(Console.maximumNamed).map(\.text).joined(separator: ", ")
      throw ConsoleError.usage(
        "call.several", "\(found.count) calls begin so: \(named)\(found.count > Console.maximumNamed ? ", …" : "")",
        at: text, fix: "more of the id")
    }
    return first
  }

  /// Ids that are meant, the newest first.
  private func calls(_ meant: CallIDText, control: String?, environment name: String?) async throws -> [CallID] {
    var found: [(id: String, startedAt: String)] = []
    if let live = try await list("/v1/live-calls", [:], control, name) {
      found = live.rows.map { ($0["id"]?.text ?? "", $0["started_at"]?.text ?? "") }
      var (searched, cursor) = (0, String?.none)
      repeat {
        guard
          let page = try await list(
            "/v1/calls", ["limit": meant == .last ? "1" : "\(CallRecordQuery.maximumLimit)", "cursor": cursor], control,
            name)
        else { break }
        found += page.rows.map { ($0["id"]?.text ?? "", $0["started_at"]?.text ?? "") }
        searched += page.rows.count
        cursor = page.next
      } while cursor != nil && meant != .last && searched < Console.maximumSearched
    } else {
      found = try await storedCalls(limit: meant == .last ? 1 : Console.maximumSearched)
        .map { ($0.call.id.text, "\($0.call.startedAt)") }
    }
    var seen: Set<String> = []
    return found.sorted { $0.startedAt > $1.startedAt }
      .filter { meant.means($0.id) && seen.insert($0.id).inserted }.map { CallID(unchecked: $0.id) }
  }

  /// Calls that are over, the newest first: from the gateway that runs, else from its files.
  package func callsEnded(limit: Int, control: String?, environment name: String?) async throws -> Answer {
    guard (1...CallRecordQuery.maximumLimit).contains(limit) else {
      throw ConsoleError.usage(
        "limit.range", "limit: \(limit) is out of range", at: "--limit", fix: "1 to \(CallRecordQuery.maximumLimit)")
    }
    var listing = Listing([
      Column("id"), Column("started_at", title: "started"), Column("environment"), Column("account"), Column("kind"),
      Column("destination"), Column("trunk"), Column("cause", title: "ended"), Column("code"),
      Column("duration_ms", title: "ms", .number), Column("cost"), Column("currency"),
    ])
    if let page = try await list("/v1/calls", ["limit": "\(limit)"], control, name) {
      listing.rows = page.rows.map { call in
        listing.columns.map { column in
          switch column.name {
          case "started_at": .instant(optional: call["started_at"]?.text.flatMap { try? InstantText.parse($0) })
          case "duration_ms": .integer(optional: call["duration_ms"]?.text.flatMap { Int64($0) })
          case "code":
            if case .object(let failure)? = call["failure"] { .text(optional: failure["code"]?.text) } else { .absent }
          default: .text(optional: call[column.name]?.text)
          }
        }
      }
    } else {
      listing.rows = try await storedCalls(limit: limit).map { record in
        let (call, summary) = (record.call, record.summary)
        return [
          .text(call.id.text), .instant(call.startedAt), .text(call.environment), .text(call.account.text),
          .text(call.kind.rawValue), .text(call.destination), .text(optional: call.trunk),
          .text(summary.cause.rawValue),
          .text(optional: summary.failure?.code.rawValue), .integer(summary.durationMilliseconds),
          .text(optional: summary.costMicro.map { $0.decimal }), .text(summary.currency),
        ]
      }
    }
    return Answer("calls", listing)
  }

  /// - Returns: `nil` where no gateway answers and none was named: its files may know.
  private func list(
    _ path: String, _ parameters: [String: String?], _ control: String?, _ name: String?
  ) async throws -> (rows: [JSONObject], next: String?)? {
    let socket = controlPath(control)
    guard control != nil || settings.places.database == nil && exists(socket) else { return nil }
    let response: ControlClient.Response
    do {
      response = try await ControlClient(path: socket).get(
        path + query(parameters.merging(["environment": name]) { $1 }))
    } catch let error as ConsoleError where error.status == .notReachable && control == nil {
      return nil
    }
    guard (200..<300).contains(response.status) else { throw failure(response, control) }
    let object = JSONObject(answer: response.body)
    return (object?["calls"]?.elements.compactMap(\.objectValue) ?? [], object?["next"]?.text)
  }

  /// Records beside the ledger, the newest first.
  private func storedCalls(limit: Int) async throws -> [CallRecord] {
    let store = try SQLiteGatewayStore.open(path: try gatewayStorePath(), createIfMissing: false)
    var (records, cursor) = ([CallRecord](), String?.none)
    do {
      repeat {
        let page = try await store.records(
          CallRecordQuery(limit: min(limit - records.count, CallRecordQuery.maximumLimit), cursor: cursor))
        records += page.records
        cursor = page.next
      } while cursor != nil && records.count < limit
    } catch {
      await store.close()
      throw error
    }
    await store.close()
    return records
  }
}
