import CallModel
import LedgerCore
import NodeCore

extension RESTService {
  /// Entries of an account that one answer looks at, the newest of the period.
  static let maximumBalanceEntries = 500

  var balanceRoutes: [RESTRoute] {
    [
      RESTRoute(
        method: "GET", path: "/v1/accounts/{name}/balances", id: "listBalances",
        summary: "How booked balance and holds went over time: a point for each change, the oldest first",
        query: RESTService.periodParameters, success: .json(200, "Balances"), problems: [.accountUnknown],
        handle: RESTService.balances)
    ]
  }

  private static let balances: RESTRoute.Handler = { call in
    let (_, stores) = try call.environment()
    let name = try call.account()
    let to = try call.instant("to") ?? call.now
    let from = try call.instant("from")
    let found = try await stores.ledger.read { reading -> (LedgerAccount, BalanceCourse)? in
      guard let account = try reading.customer(named: name.text) else { return nil }
      return (account, try BalanceCourse(of: account, from: from, to: to, now: call.now, reading))
    }
    guard let (account, course) = found else { throw Problem(.unknownAccount) }
    let points = course.points.map { point in
      JSONValue.members(
        [("at", .string("\(point.at)"))] + RESTTrees.money("posted", point.posted) + RESTTrees.money("held", point.held)
      )
    }
    return .json(
      200,
      .members([
        ("account", .string(account.name)), ("currency", .string("\(account.currency)")),
        ("from", .string("\(course.from)")),
        ("to", .string("\(course.to)")), ("complete", .boolean(course.isComplete)), ("points", .array(points)),
      ]))
  }
}

/// What was booked and held of an account at each moment of a period.
///
/// Holds are those of calls that were charged, and of calls that are up: one that was given back leaves nothing that is
/// looked for here.
struct BalanceCourse {
  struct Point: Hashable {
    var at: Instant
    var posted: MicroUnits
    var held: MicroUnits
  }

  let from: Instant
  let to: Instant
  /// Whether nothing was left out at the beginning.
  let isComplete: Bool
  /// At the beginning, after each change, and at the end.
  private(set) var points: [Point] = []

  init(
    of account: LedgerAccount, from wanted: Instant?, to end: Instant, now: Instant, _ reading: any LedgerReading
  ) throws {
    let lines = try reading.history(
      of: account.id,
      HistoryRange(from: wanted, to: end, limit: RESTService.maximumBalanceEntries, newest: true))
    isComplete = lines.count < RESTService.maximumBalanceEntries
    let start = isComplete ? wanted ?? account.createdAt : lines.first?.transfer.at ?? end
    let first = lines.first.map { $0.entry.balanceAfter - $0.entry.amount }
    let before = try first ?? reading.lastEntry(of: account.id, before: start)?.balanceAfter ?? 0
    from = min(start, end)
    to = end
    var changes: [(at: Instant, posted: MicroUnits, held: MicroUnits)] = lines.map {
      ($0.transfer.at, $0.entry.amount, 0)
    }
    for hold in try BalanceCourse.holds(account, lines, reading) {
      var amount = MicroUnits.zero
      for grant in try reading.grants(ofHold: hold.seq) {
        changes.append((grant.at, 0, grant.amount - amount))
        amount = grant.amount
      }
      if let resolvedAt = hold.resolvedAt { changes.append((resolvedAt, 0, -amount)) }
    }
    changes.sort { $0.at < $1.at }
    var point = Point(at: from, posted: before, held: 0)
    points = [point]
    for change in changes where change.at <= to {
      if change.at > point.at {
        point.at = change.at
        points.append(point)
      }
      point.posted += change.posted
      point.held += change.held
      points[points.count - 1] = point
    }
    // The end of what is known already is the account itself.
    if to >= now { (point.posted, point.held) = (account.posted, account.held) }
    point.at = max(to, point.at)
    points.append(point)
  }

  private static func holds(
    _ account: LedgerAccount, _ lines: [HistoryLine], _ reading: any LedgerReading
  ) throws -> [Hold] {
    var found = try reading.holds(
      HoldFilter(account: account.id, openOnly: true, limit: RESTService.maximumBalanceEntries))
    for line in lines where line.transfer.kind == .call {
      if let call = line.transfer.call, let hold = try reading.hold(account: account.id, call: call) {
        found.append(hold)
      }
    }
    return found
  }
}
